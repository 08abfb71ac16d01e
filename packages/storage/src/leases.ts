import type { PollSpec, ServiceTier } from '@eloquentpoll/contracts';
import { type RawBuilder, sql } from 'kysely';
import type { Queries, Storage } from './open-storage.ts';
import { inTransaction, repeatable } from './transaction.ts';

// Who runs a poll. A claim raises the epoch, and only the holder of the newest epoch can finish the poll, so a worker
// that was paused past its lease can do no harm. Every comparison of times is made by Postgres.

/** Shorter than the queue's lock on a job, so that a dead worker's poll can be claimed when its job comes back. */
export const LEASE_MS = 8_000;
const endOf = (leaseMs: number) => sql<Date>`now() + ${leaseMs} * interval '1 millisecond'`;

/**
 * The newest kind of poll that this code runs. A poll that a later release accepted may need what is not known here: it
 * is left to that release's workers until it is overdue, when any worker may end it.
 */
const KNOWN_SCHEMA = 1;

/**
 * Quarantine of poison polls: after this many lost workers a poll is a suspect. A worker runs a limited number of
 * suspects at a time, and half as many for each further loss, until a suspect runs alone and only it can be the cause.
 * Running suspects alone from the start would delay the innocent ones by minutes after an outage.
 */
const DEATHS_BEFORE_SUSPECT = 3;
const MAX_SUSPECTS = 16;
/** How many suspects may run on one worker beside one with so many deaths, itself included. */
const suspectLimit = (deaths: string) =>
  sql.raw(`greatest(1, ${MAX_SUSPECTS} >> least(${deaths} - ${DEATHS_BEFORE_SUSPECT}, 8))`);

/** Of a poll whose run has a limit of its own: the end of that, once a worker has claimed it. */
const mustEndAt = sql<Date>`least(deadline_at, run_until)`;

/** What a worker gets to run a poll. */
export interface Claim {
  id: string;
  resultId: string;
  /** Whose poll it is; null for an anonymous one. */
  accountId: string | null;
  /** Whose polls share slots and places with it; null for what no caller asked for. */
  tenant: string | null;
  /** Its caller waits for the end. */
  isAwaited: boolean;
  epoch: number;
  /** How often the poll was claimed, this time included: the measure of a poison poll. */
  claims: number;
  spec: PollSpec;
  schemaVersion: number;
  entryPoint: string;
  requestId: string | null;
  traceparent: string | null;
  /** It was drawn for an audit of this roster version; null for most. */
  auditVersion: string | null;
  /** Its caller canceled it: what earlier workers heard is stored, and no model is asked. */
  isCanceled: boolean;
  createdAt: Date;
  deadlineAt: Date;
  /** Since the poll was accepted, and left until it has to end, by Postgres' clock when the claim was made. */
  ageMs: number;
  remainingMs: number;
}

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

/** null when the poll has ended, another worker holds it, it is unknown, or has to wait for other suspects to end. */
export async function claimPoll(
  storage: Storage,
  pollId: string,
  worker: string,
  leaseMs = LEASE_MS,
): Promise<Claim | null> {
  const { rows } = await claim(storage, pollId, worker, leaseMs, sql`claims < ${DEATHS_BEFORE_SUSPECT}`);
  if (rows[0] || !(await isSuspect(storage, pollId))) return toClaim(rows[0]);
  return inTransaction(storage, async (tx) => {
    // One claim of a suspect after the other: each sees what the one before it has taken.
    await sql`select pg_advisory_xact_lock(hashtextextended('suspect of ' || ${worker}, 0))`.execute(tx.db);
    const fewEnough = sql`(
      select count(*) + 1 <= least(${suspectLimit('polls.claims')}, min(${suspectLimit('other.claims - 1')}))
        from polls as other
       where other.status = 'running' and other.lease_owner = ${worker} and other.lease_until >= now()
         and other.claims > ${DEATHS_BEFORE_SUSPECT})`;
    return toClaim((await claim(tx, pollId, worker, leaseMs, fewEnough)).rows[0]);
  });
}

function claim({ db }: Queries, pollId: string, worker: string, leaseMs: number, condition: RawBuilder<unknown>) {
  return sql<ClaimRow>`
    update polls
       set lease_epoch = lease_epoch + 1, lease_owner = ${worker}, claims = claims + 1,
           lease_until = ${endOf(leaseMs)}, run_until = now() + run_limit_ms * interval '1 millisecond'
     where id = ${pollId} and status = 'running' and (lease_owner is null or lease_until < now())
       and schema_version <= ${KNOWN_SCHEMA} and ${condition}
    returning ${claimed}`.execute(db);
}

async function isSuspect({ db }: Queries, pollId: string): Promise<boolean> {
  const found = await db
    .selectFrom('polls')
    .select('id')
    .where('id', '=', pollId)
    .where('status', '=', 'running')
    .where('claims', '>=', DEATHS_BEFORE_SUSPECT)
    .executeTakeFirst();
  return found !== undefined;
}

/** Takes a poll past its deadline from its holder: a worker that hangs cannot keep a poll from ending. */
export async function claimOverdue(
  { db }: Queries,
  pollId: string,
  worker: string,
  graceMs = 0,
): Promise<Claim | null> {
  const { rows } = await sql<ClaimRow>`
    update polls
       set lease_epoch = lease_epoch + 1, lease_owner = ${worker}, claims = claims + 1,
           lease_until = ${endOf(LEASE_MS)}
     where id = ${pollId} and status = 'running' and ${mustEndAt} < now() - ${graceMs} * interval '1 millisecond'
    returning ${claimed}`.execute(db);
  return toClaim(rows[0]);
}

/** A poll that is still its worker's own. */
export interface Renewed {
  id: string;
  /** Its caller canceled it. */
  isCanceled: boolean;
}

/** Extends the leases of all polls of a worker at once; returns those that are still its own. */
export async function renewLeases({ db }: Queries, worker: string, leases: readonly Lease[]): Promise<Renewed[]> {
  if (leases.length === 0) return [];
  const ids = leases.map((lease) => lease.id);
  const epochs = leases.map((lease) => lease.epoch);
  const { rows } = await repeatable(() =>
    sql<Renewed>`
      update polls set lease_until = ${endOf(LEASE_MS)}
        from unnest(${ids}::text[], ${epochs}::int[]) as held (id, epoch)
       where polls.id = held.id and polls.lease_epoch = held.epoch and polls.lease_owner = ${worker}
         and polls.status = 'running'
      returning polls.id, polls.canceled_at is not null as "isCanceled"`.execute(db),
  );
  return rows;
}

/**
 * Releases a poll so that another worker can claim it at once. The claim is not counted: an orderly shutdown says nothing
 * about the poll. False when the lease was lost before.
 */
export async function releaseLease({ db }: Queries, { id, epoch }: Lease): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('polls')
    .set({ lease_owner: null, lease_until: sql<Date>`now()`, run_until: null, claims: sql<number>`claims - 1` })
    .where('id', '=', id)
    .where('lease_epoch', '=', epoch)
    .where('lease_owner', 'is not', null)
    .where('status', '=', 'running')
    .executeTakeFirst();
  return numUpdatedRows === 1n;
}

/** Running polls without a holder: their lease ran out, or they were accepted and never claimed. */
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

/** Running polls past their deadline by more than `graceMs`, in which a worker should have ended them itself. */
export async function findOverdue({ db }: Queries, limit: number, graceMs = 0): Promise<FoundPoll[]> {
  return db
    .selectFrom('polls')
    .select(['id', 'lease_epoch as epoch', 'tenant', 'awaited as isAwaited', 'lane'])
    .where('status', '=', 'running')
    .where(mustEndAt, '<', sql<Date>`now() - ${graceMs} * interval '1 millisecond'`)
    .orderBy('deadline_at')
    .limit(limit)
    .execute();
}

const claimed =
  sql.raw(`id, result_id, account_id, tenant, awaited, lease_epoch, claims, spec, schema_version, entry_point, request_id,
  traceparent, audit_version, canceled_at is not null as is_canceled, created_at, deadline_at, greatest(0, ceil(extract(epoch from now() - created_at) * 1000))::integer as age_ms,
  greatest(0, ceil(extract(epoch from least(deadline_at, run_until) - now()) * 1000))::integer as remaining_ms`);

interface ClaimRow {
  id: string;
  result_id: string;
  account_id: string | null;
  tenant: string | null;
  awaited: boolean;
  lease_epoch: number;
  claims: number;
  spec: PollSpec;
  schema_version: number;
  entry_point: string;
  request_id: string | null;
  traceparent: string | null;
  audit_version: string | null;
  is_canceled: boolean;
  created_at: Date;
  deadline_at: Date;
  age_ms: number;
  remaining_ms: number;
}

function toClaim(row: ClaimRow | undefined): Claim | null {
  if (!row) return null;
  return {
    id: row.id,
    resultId: row.result_id,
    accountId: row.account_id,
    tenant: row.tenant,
    isAwaited: row.awaited,
    epoch: row.lease_epoch,
    claims: row.claims,
    spec: row.spec,
    schemaVersion: row.schema_version,
    entryPoint: row.entry_point,
    requestId: row.request_id,
    traceparent: row.traceparent,
    auditVersion: row.audit_version,
    isCanceled: row.is_canceled,
    createdAt: row.created_at,
    deadlineAt: row.deadline_at,
    ageMs: row.age_ms,
    remainingMs: row.remaining_ms,
  };
}
