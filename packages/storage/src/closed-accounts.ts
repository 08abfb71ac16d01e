import { sql } from 'kysely';
import { inSteps, untilShort } from './in-steps.ts';
import type { Queries, Storage } from './open-storage.ts';
import { inTransaction } from './transaction.ts';

// Deletes the rest of closed accounts in short transactions: an account with millions of rows delays no other.
// Rows are looked for account by account, each time up to a limit: of a join with accounts the planner expects far too
// many rows, because it takes each closed account for one that is still to be emptied, and reads a table from its start.

/** Condition on `accounts a`: closed, and not yet completely deleted. */
const closed = sql`a.deleted_at is not null and a.emptied_at is null and (a.keep_until is null or a.keep_until < now())`;

/** A transaction that reads no table from end to end: closed accounts have few rows, or none, which no statistics say. */
const byIndex = <T>(storage: Storage, work: (tx: Queries) => Promise<T>): Promise<T> =>
  inTransaction(storage, async (tx) => {
    await sql`set local enable_seqscan = off`.execute(tx.db);
    return work(tx);
  });

const BATCHES_AT_ONCE = 100;
const ROWS_AT_ONCE = 1_000;
const LABELS = ['usage_names', 'usage_labels', 'usage_label_months'] as const;

/** Empties up to `limit` ended polls of closed accounts and returns their ids; fewer than `limit` when none is left. */
export function emptyPollsOfClosed(storage: Storage, limit: number): Promise<string[]> {
  return byIndex(storage, async ({ db }) => {
    const { rows } = await sql<{ id: string }>`
      select p.id from accounts a cross join lateral (
        select id from polls where account_id = a.id and status <> 'running'
         order by created_at desc, id desc limit ${limit} for update skip locked) p
       where ${closed} limit ${limit}`.execute(db);
    const ids = rows.map(({ id }) => id);
    if (ids.length > 0) await sql`select empty_polls(${ids}::text[])`.execute(db);
    return ids;
  });
}

/** Deletes the rest of closed accounts and of removed endpoints, about `limit` rows of each kind; returns how many. */
export function forgetClosedAccounts(storage: Storage, limit: number): Promise<number> {
  return inSteps([
    () => untilShort(limit, BATCHES_AT_ONCE, (atOnce) => deleteBatches(storage, atOnce)),
    () => forgetWebhooks(storage, limit),
    () => forgetKeys(storage, limit),
    // Labels are the owner's texts; sums per day belong to the books. Names first: labels without one are not summed.
    async () => {
      let done = 0;
      for (const table of LABELS)
        done += await untilShort(limit, ROWS_AT_ONCE, (atOnce) => deleteLabels(storage, table, atOnce));
      return done;
    },
    () => untilShort(limit, ROWS_AT_ONCE, (atOnce) => deleteDraws(storage, atOnce)),
    () => noteEmptied(storage),
  ]);
}

/** Deletes the rest of removed endpoints and the events of closed accounts. */
function forgetWebhooks({ db }: Queries, limit: number): Promise<number> {
  return untilShort(limit, ROWS_AT_ONCE, async (atOnce) => {
    const { rows } = await sql<{ forgotten: number }>`select forget_webhooks(${atOnce}) as forgotten`.execute(db);
    return rows[0]!.forgotten;
  });
}

function forgetKeys({ db }: Queries, limit: number): Promise<number> {
  return untilShort(limit, ROWS_AT_ONCE, async (atOnce) => {
    const { rows } = await sql<{ forgotten: number }>`select forget_keys(${atOnce}) as forgotten`.execute(db);
    return rows[0]!.forgotten;
  });
}

/** Empties polls and then deletes the rest. Returns the polls that were emptied. */
export async function emptyClosedAccounts(storage: Storage, limit = 500): Promise<string[]> {
  const ids = await emptyPollsOfClosed(storage, limit);
  await forgetClosedAccounts(storage, limit);
  return ids;
}

function deleteBatches(storage: Storage, limit: number): Promise<number> {
  return byIndex(storage, async ({ db }) => {
    const { rows } = await sql`
      select delete_batch(id, account_id) from (
        select b.id, a.id as account_id from accounts a cross join lateral (
          select id from batches
           where account_id = a.id and status in ('completed', 'canceled', 'expired') limit ${limit}) b
         where ${closed} limit ${limit}) ended`.execute(db);
    return rows.length;
  });
}

function deleteLabels(storage: Storage, name: (typeof LABELS)[number], limit: number): Promise<number> {
  const table = sql.table(name);
  return byIndex(storage, async ({ db }) => {
    const { numAffectedRows } = await sql`
      delete from ${table} where ctid = any(array(
        select u.ctid from accounts a cross join lateral (
          select ctid from ${table} where account_id = a.id limit ${limit}) u
         where ${closed} and not exists (select from polls p where p.account_id = a.id)
         limit ${limit}))`.execute(db);
    return Number(numAffectedRows);
  });
}

/** How many of its polls were audited. */
function deleteDraws(storage: Storage, limit: number): Promise<number> {
  return byIndex(storage, async ({ db }) => {
    const { numAffectedRows } = await sql`
      delete from audit_draws where ctid = any(array(
        select d.ctid from accounts a cross join lateral (
          select ctid from audit_draws where tenant = a.id::text limit ${limit}) d
         where ${closed} limit ${limit}))`.execute(db);
    return Number(numAffectedRows);
  });
}

function noteEmptied(storage: Storage): Promise<number> {
  return byIndex(storage, async ({ db }) => {
    const { numAffectedRows } = await sql`
    update accounts a set emptied_at = now()
     where ${closed}
       and not exists (select from polls p where p.account_id = a.id)
       and not exists (select from batches b where b.account_id = a.id and b.status <> 'deleted')
       and not exists (select from audit_draws d where d.tenant = a.id::text)
       and not exists (select from webhook_events e where e.account_id = a.id)
       and not exists (select from webhook_endpoints e where e.account_id = a.id)
       and not exists (select from usage_names u where u.account_id = a.id)
       and not exists (select from usage_labels u where u.account_id = a.id)
       and not exists (select from usage_label_months u where u.account_id = a.id)
       and not has_keys(a.id)`.execute(db);
    return Number(numAffectedRows);
  });
}
