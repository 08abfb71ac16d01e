import type { TerminationReason, Vote } from '@eloquentpoll/contracts';
import { sql } from 'kysely';
import type { Storage } from './open-storage.ts';
import type { ResultStatus } from './tables/polls.ts';
import { repeatable } from './transaction.ts';

// The end of a poll, in one call of the SQL function finish_poll (migration 0005): status, result, votes, and the
// hold captured for the sum of the billed votes, all fenced by the lease epoch. Safe to repeat.

export interface FinishedPoll {
  id: string;
  /** Of the claim under which the poll was run. */
  epoch: number;
  /** What the session shows; `failed` means that there is no valid vote. */
  status: 'completed' | 'failed';
  result: FinishedResult;
  votes: readonly Vote[];
}

export interface FinishedResult {
  status: ResultStatus;
  winningOption: string | null;
  isTie: boolean;
  earlyTerminated: boolean;
  terminationReason: TerminationReason | null;
  modelsRequested: number;
  modelsSucceeded: number;
  modelsFailed: number;
  modelsSkipped: number;
  gatherMs: number;
  totalMs: number;
  /** The synchronous poll response, exactly as its caller gets it. */
  detail: Record<string, unknown>;
}

/** `fenced`: somebody else has claimed the poll since, or ended it; nothing was written. */
export type Finish = 'stored' | 'fenced';

export function finishPoll(storage: Storage, poll: FinishedPoll): Promise<Finish> {
  const { result } = poll;
  return finish(storage, {
    id: poll.id,
    epoch: poll.epoch,
    status: poll.status,
    votes: poll.votes,
    result: {
      status: result.status,
      winning_option: result.winningOption,
      is_tie: result.isTie,
      early_terminated: result.earlyTerminated,
      termination_reason: result.terminationReason,
      models_requested: result.modelsRequested,
      models_succeeded: result.modelsSucceeded,
      models_failed: result.modelsFailed,
      models_skipped: result.modelsSkipped,
      gather_ms: result.gatherMs,
      total_ms: result.totalMs,
      detail_text: JSON.stringify(result.detail),
    },
  });
}

/** Gives a poll up: it failed without a result, its hold is released, and a dead letter says why. */
export function bury(
  storage: Storage,
  { id, epoch, reason }: { id: string; epoch: number; reason: string },
): Promise<Finish> {
  return finish(storage, { id, epoch, status: 'failed', votes: [], dead_letter: reason });
}

async function finish({ db }: Storage, poll: object): Promise<Finish> {
  const argument = JSON.stringify(poll);
  const { rows } = await repeatable(() =>
    sql<{ outcome: Finish }>`select finish_poll(${argument}::jsonb) as outcome`.execute(db),
  );
  return rows[0]!.outcome;
}
