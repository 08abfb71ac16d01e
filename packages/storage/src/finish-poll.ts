import type { PollResponse, Vote } from '@eloquentpoll/contracts';
import { sql } from 'kysely';
import type { Storage } from './open-storage.ts';
import { repeatable } from './transaction.ts';

// The end of a poll, in one call of the SQL function finish_poll: status, result, votes, and the hold captured for the
// sum of the billed votes, all fenced by the lease epoch. Safe to repeat.

export interface FinishedPoll {
  id: string;
  /** Of the claim under which the poll was run. */
  epoch: number;
  votes: readonly Vote[];
  /** The synchronous poll response, exactly as its caller gets it. A poll without a valid vote has failed. */
  response: PollResponse;
}

/** `fenced`: another worker has claimed the poll since, or ended it; nothing was written. */
export type Finish = 'stored' | 'fenced';

export function finishPoll(storage: Storage, { id, epoch, votes, response }: FinishedPoll): Promise<Finish> {
  return finish(storage, { id, epoch, votes, response: JSON.stringify(response) });
}

/** Gives a poll up: it failed without a result, its hold is released, and a dead letter says why. */
export function bury(
  storage: Storage,
  { id, epoch, reason }: { id: string; epoch: number; reason: string },
): Promise<Finish> {
  return finish(storage, { id, epoch, votes: [], dead_letter: reason });
}

async function finish({ db }: Storage, poll: object): Promise<Finish> {
  const argument = JSON.stringify(poll);
  const { rows } = await repeatable(() =>
    sql<{ outcome: Finish }>`select finish_poll(${argument}::jsonb) as outcome`.execute(db),
  );
  return rows[0]!.outcome;
}
