import type { PollResponse, PollSpec, ProgressSnapshot, Vote } from '@eloquentpoll/contracts';
import { type PollState, recordUsed, standing } from '@eloquentpoll/voting';
import { chancesInOrder, chancesOf } from '@eloquentpoll/voting/chances';
import { runStatusOf, voteResult } from './poll-response.ts';
import { stoodAlikeJson } from './stood-alike.ts';

// Snapshots are numbered so that a later worker's are higher than an earlier one's: a reader keeps the highest.

const PER_EPOCH = 64;

export interface Moment {
  pollId: string;
  /** Of the claim under which the poll is run. */
  epoch: number;
  spec: PollSpec;
  state: PollState;
  /** Votes that arrived, failed ones included. */
  received: number;
  /** The vote that led to this moment, if one did. */
  vote: Vote | null;
  /** Models that were asked and have not answered, where it is known. */
  asking?: number;
  elapsedMs: number;
}

export function runningSnapshot(moment: Moment): ProgressSnapshot {
  const { spec, state, vote } = moment;
  const { succeeded, failed, tally, leader, confidence } = standing(state);
  return {
    seq: (moment.epoch - 1) * PER_EPOCH + moment.received,
    poll_id: moment.pollId,
    status: 'running',
    models_requested: spec.seats.length,
    progress: { received: succeeded + failed, succeeded, failed, total: spec.seats.length },
    tally: [...tally],
    leader,
    confidence,
    chances: chancesInOrder(chancesOf(state)),
    ...stoodAlikeJson(recordUsed(state)),
    ...(moment.asking !== undefined && { asking: moment.asking }),
    vote: vote && voteResult(spec, vote),
    result_id: null,
    result: null,
    elapsed_ms: Math.round(moment.elapsedMs),
  };
}

/** The poll has ended with this result; null for one that was given up without any. */
export function finalSnapshot(moment: Moment, result: PollResponse | null): ProgressSnapshot {
  const last = runningSnapshot({ ...moment, vote: null });
  return {
    ...last,
    seq: last.seq + 1,
    status: result ? runStatusOf(result) : 'failed',
    result_id: result?.poll_id ?? null,
    result,
  };
}
