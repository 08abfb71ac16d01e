import type { PollSpec, PollStatus } from '@eloquentpoll/contracts';
import { pollIdsOfResult } from '@eloquentpoll/polls';
import { sql } from 'kysely';
import type { Queries } from './open-storage.ts';
import { pollsWithResults } from './polls-with-results.ts';

/** A poll as its caller can query it: by the id that is its session id on the wire. */
export interface Poll {
  id: string;
  /** Assigned on acceptance, but shown only once the poll has ended with a result. */
  resultId: string;
  accountId: string | null;
  status: PollStatus;
  spec: PollSpec;
  entryPoint: string;
  /** The id by which the caller of an agent's task groups its tasks. */
  contextId: string | null;
  createdAt: Date;
  deadlineAt: Date;
  /** Time until the deadline by the clock of Postgres, which set it; 0 if it has passed. */
  remainingMs: number;
  finishedAt: Date | null;
  /** When the caller canceled the poll. */
  canceledAt: Date | null;
}

export async function findPoll({ db }: Queries, pollId: string): Promise<Poll | null> {
  return toPollOrNull(await pollColumns({ db }).where('id', '=', pollId).where(isInTime).executeTakeFirst());
}

export async function findPollByResult({ db }: Queries, resultId: string): Promise<Poll | null> {
  const { since, until } = pollIdsOfResult(resultId);
  const found = pollColumns({ db }).where('result_id', '=', resultId).where('id', '>=', since).where('id', '<', until);
  return toPollOrNull(await found.where(isInTime).executeTakeFirst());
}

/** An expired poll is invisible even before a worker has emptied it; a running poll ends first. */
export const isInTime = sql<boolean>`(polls.expires_at is null or polls.expires_at > now() or polls.status = 'running')`;

/** The state of a poll without its question: all that its session shows. */
export interface StoredRun {
  pollId: string;
  accountId: string | null;
  status: PollStatus;
  /** Null while the poll runs, or if it was given up. */
  resultId: string | null;
}

export async function findRunStates(queries: Queries, pollIds: readonly string[]): Promise<StoredRun[]> {
  const rows = await pollsWithResults(queries, pollIds)
    .select(['polls.id', 'polls.account_id', 'polls.status', 'results.result_id'])
    .where(isInTime)
    .execute();
  return rows.map(({ id, account_id, status, result_id }) => ({
    pollId: id,
    accountId: account_id,
    status,
    resultId: result_id,
  }));
}

export function pollColumns({ db }: Queries) {
  return db
    .selectFrom('polls')
    .select([
      'id',
      'result_id',
      'account_id',
      'status',
      'spec',
      'entry_point',
      'context_id',
      'created_at',
      'deadline_at',
      'finished_at',
      'canceled_at',
    ])
    .select(sql<number>`greatest(0, ceil(extract(epoch from deadline_at - now()) * 1000))::integer`.as('remaining_ms'));
}

type PollRow = NonNullable<Awaited<ReturnType<ReturnType<typeof pollColumns>['executeTakeFirst']>>>;

const toPollOrNull = (row: PollRow | undefined): Poll | null => (row ? toPoll(row) : null);

export function toPoll(row: PollRow): Poll {
  return {
    id: row.id,
    resultId: row.result_id,
    accountId: row.account_id,
    status: row.status,
    spec: row.spec,
    entryPoint: row.entry_point,
    contextId: row.context_id,
    createdAt: row.created_at,
    deadlineAt: row.deadline_at,
    remainingMs: row.remaining_ms,
    finishedAt: row.finished_at,
    canceledAt: row.canceled_at,
  };
}
