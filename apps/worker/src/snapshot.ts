import type { PollResponse, PollSpec, ProgressSnapshot, Vote } from '@eloquentpoll/contracts';
import { type PollState, standing } from '@eloquentpoll/voting';
import { sessionStatus, voteResult } from './poll-response.ts';

// Snapshots are numbered so that a later worker's are higher than an earlier one's: a reader keeps the highest.

const PER_EPOCH = 64;

export const firstSeq = (epoch: number): number => (epoch - 1) * PER_EPOCH;

export interface Moment {
  pollId: string;
  epoch: number;
  spec: PollSpec;
  state: PollState;
  received: number;
  vote: Vote | null;
  elapsedMs: number;
}

export function runningSnapshot(moment: Moment): ProgressSnapshot {
  const { spec, state } = moment;
  const now = standing(state);
  return {
    seq: firstSeq(moment.epoch) + moment.received,
    poll_id: moment.pollId,
    status: 'running',
    models_requested: spec.seats.length,
    progress: {
      received: now.succeeded + now.failed,
      succeeded: now.succeeded,
      failed: now.failed,
      total: spec.seats.length,
    },
    tally: [...now.tally],
    leader: now.leader,
    confidence: now.confidence,
    vote: moment.vote && voteResult(spec, moment.vote),
    result_id: null,
    result: null,
    elapsed_ms: Math.round(moment.elapsedMs),
  };
}

export function terminalSnapshot(moment: Moment, result: PollResponse): ProgressSnapshot {
  return {
    ...runningSnapshot({ ...moment, vote: null }),
    seq: firstSeq(moment.epoch) + moment.received + 1,
    status: sessionStatus(result),
    result_id: result.poll_id,
    result,
  };
}

/** The end of a poll that was given up: it has no result. */
export function buriedSnapshot(moment: Moment): ProgressSnapshot {
  return { ...runningSnapshot(moment), seq: firstSeq(moment.epoch) + moment.received + 1, status: 'failed' };
}
