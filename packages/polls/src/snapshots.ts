import type { PollResponse, PollSpec, ProgressSnapshot, Vote } from '@eloquentpoll/contracts';
import { type PollState, recordUsed, standing } from '@eloquentpoll/voting';
import { chancesInOrder, chancesOf } from '@eloquentpoll/voting/chances';
import { runStatusOf, voteResult } from './poll-response.ts';
import { stoodAlikeJson } from './stood-alike.ts';

// Snapshots are numbered so that those of a later worker are higher. Readers keep the highest.

const PER_EPOCH = 64;

export interface Moment {
  pollId: string;
  /** The epoch of the worker's claim. */
  epoch: number;
  spec: PollSpec;
  state: PollState;
  /** Number of votes received, including failed ones. */
  received: number;
  /** The vote that led to this state, if any. */
  vote: Vote | null;
  /** Models that were asked and have not answered, if known. */
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

/**
 * The last snapshot: the poll has ended with this result, or was given up (null). Its odds are those of the result,
 * which differ from those of the state after the last vote if it is partial.
 */
export function finalSnapshot(moment: Moment, result: PollResponse | null): ProgressSnapshot {
  const last = runningSnapshot({ ...moment, vote: null });
  const { track_record: _, ...withoutRecord } = last;
  const { confidence, chances, track_record } = result ?? last;
  return {
    ...withoutRecord,
    confidence,
    ...(chances && { chances }),
    ...(track_record && { track_record }),
    seq: last.seq + 1,
    status: result ? runStatusOf(result) : 'failed',
    result_id: result?.poll_id ?? null,
    result,
  };
}
