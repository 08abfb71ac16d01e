import type { ServiceTier } from '@eloquentpoll/contracts';
import { sql } from 'kysely';
import type { Queries } from './open-storage.ts';
import { isInMonthsOf } from './poll-ids.ts';
import { repeatable } from './transaction.ts';

// Who runs a poll: renews and releases what was claimed (see claims.ts), and finds polls without a holder. All times
// are compared by Postgres. Beside an id, a running poll is one without `finished_at`: by old statistics, the index of
// `status = 'running'` looks as cheap as that of ids, and all running polls would be read.

/** Shorter than the reservation of a worker's job: when a dead worker's job comes back, its poll can be claimed. */
export const LEASE_MS = 8_000;
export const leaseEnd = (leaseMs: number) => sql<Date>`now() + ${leaseMs} * interval '1 millisecond'`;

/** A worker must have ended the poll by its deadline or, while a worker has it, by its run limit if that is earlier. */
export const mustEndAt = sql<Date>`
  case when lease_owner is not null and lease_until >= now() then least(deadline_at, run_until) else deadline_at end`;

/**
 * Overdue by more than `graceMs`, doubled after each claim: if the store accepts claims but cannot store ends, the
 * worker with the votes keeps trying, and the poll does not use up its claims.
 */
export const isOverdue = (graceMs: number) =>
  sql<boolean>`${mustEndAt} < now() - ${graceMs} * interval '1 millisecond' * 2 ^ greatest(0, least(claims - 1, 10))`;

export interface Lease {
  id: string;
  epoch: number;
}

/** A running poll that needs a job. */
export interface FoundPoll extends Lease {
  tenant: string | null;
  isAwaited: boolean;
  lane: ServiceTier;
}

/** A poll that its worker still holds. */
export interface Renewed {
  id: string;
  /** The caller canceled the poll. */
  isCanceled: boolean;
  /** How long the lease lasts from the renewal on, by Postgres' clock: LEASE_MS if it was extended. */
  leftMs: number;
}

/**
 * Extends the leases of all polls of a worker at once; returns those that it still holds. It waits for no lock: one
 * transaction that hangs with one of the polls would otherwise end all leases of the worker. A poll that is locked is
 * not extended this time, and counts as held while its lease lasts (`leftMs`): no other worker can claim it before that.
 */
export async function renewLeases({ db }: Queries, worker: string, leases: readonly Lease[]): Promise<Renewed[]> {
  if (leases.length === 0) return [];
  const ids = leases.map((lease) => lease.id);
  const epochs = leases.map((lease) => lease.epoch);
  const isOurs = sql<boolean>`${isInMonthsOf('polls.id', ids)} and polls.lease_epoch = mine.epoch
           and polls.lease_owner = ${worker} and polls.finished_at is null`;
  const { rows } = await repeatable(() =>
    sql<Renewed>`
      with mine as (select * from unnest(${ids}::text[], ${epochs}::int[]) as mine (id, epoch)),
      held as materialized (
        select polls.id, polls.canceled_at is not null as "isCanceled",
               (extract(epoch from polls.lease_until - now()) * 1000)::float8 as "leftMs"
          from polls join mine on polls.id = mine.id
         where ${isOurs} and polls.lease_until >= now()),
      free as materialized (
        select polls.id
          from polls join mine on polls.id = mine.id
         where ${isOurs}
           for no key update of polls skip locked),
      renewed as (
        update polls set lease_until = ${leaseEnd(LEASE_MS)} from free
         where polls.id = free.id and ${isInMonthsOf('polls.id', ids)}
        returning polls.id, polls.canceled_at is not null as "isCanceled", ${LEASE_MS}::float8 as "leftMs")
      select id, "isCanceled", "leftMs" from renewed
      union all
      select id, "isCanceled", "leftMs" from held where id not in (select id from free)`.execute(db),
  );
  return rows;
}

/**
 * Releases a poll so that another worker can claim it at once. The claim is not counted: an orderly shutdown does not
 * make the poll suspicious. False if the lease was already lost.
 */
export async function releaseLease({ db }: Queries, { id, epoch }: Lease): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('polls')
    .set({ lease_owner: null, lease_until: sql<Date>`now()`, run_until: null, claims: sql<number>`claims - 1` })
    .where('id', '=', id)
    .where('lease_epoch', '=', epoch)
    .where('lease_owner', 'is not', null)
    .where('finished_at', 'is', null)
    .executeTakeFirst();
  return numUpdatedRows === 1n;
}

/** Running polls without a holder: their lease has lapsed, or they were accepted and never claimed. */
export async function findLapsed({ db }: Queries, limit: number, skip = 0): Promise<FoundPoll[]> {
  return db
    .selectFrom('polls')
    .select(['id', 'lease_epoch as epoch', 'tenant', 'awaited as isAwaited', 'lane'])
    .where('status', '=', 'running')
    .where('lease_until', '<', sql<Date>`now()`)
    .orderBy('deadline_at')
    .limit(limit)
    .offset(skip)
    .execute();
}

/** Milliseconds until the first lease ends unless renewed; null if none ends within `withinMs`. */
export async function nextLapse({ db }: Queries, withinMs: number): Promise<number | null> {
  const { rows } = await sql<{ ms: number | null }>`
    select (extract(epoch from min(lease_until) - now()) * 1000)::float8 as ms from polls
     where status = 'running' and lease_epoch > 0 and lease_until >= now()
       and lease_until < now() + ${withinMs} * interval '1 millisecond'`.execute(db);
  return rows[0]?.ms ?? null;
}

/** Running polls that their worker should have ended: see `isOverdue`. */
export async function findOverdue({ db }: Queries, limit: number, graceMs = 0): Promise<FoundPoll[]> {
  return db
    .selectFrom('polls')
    .select(['id', 'lease_epoch as epoch', 'tenant', 'awaited as isAwaited', 'lane'])
    .where('status', '=', 'running')
    .where(isOverdue(graceMs))
    .orderBy('deadline_at')
    .limit(limit)
    .execute();
}
