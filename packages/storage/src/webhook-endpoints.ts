import { LIMITS, type WebhookEventType } from '@eloquentpoll/contracts';
import { sql } from 'kysely';
import { lockUnclosed, refuseClosed } from './accounts.ts';
import type { Queries, Storage } from './open-storage.ts';
import { inTransaction } from './transaction.ts';

// Where an account's events are sent. One endpoint, without a URL, represents the webhook_url of its polls and batches:
// it holds their secret and their log.

export interface StoredWebhookEndpoint {
  id: string;
  /** Null for the endpoint that represents every webhook_url. */
  url: string | null;
  description: string;
  eventTypes: readonly WebhookEventType[];
  /** Encrypted. */
  secret: string;
  previousUntil: Date | null;
  disabledAt: Date | null;
  disabledWhy: 'owner' | 'gone' | 'failing' | null;
  failingSince: Date | null;
  skipped: number;
  pending: number;
  createdAt: Date;
}

export interface NewEndpoint {
  id: string;
  url: string;
  description: string;
  eventTypes: readonly WebhookEventType[];
  /** Encrypted. */
  secret: string;
}

const pending = sql<number>`(
  select count(*)::integer from (select from webhook_deliveries d
    where d.endpoint_id = webhook_endpoints.id and d.status = 'pending' limit ${sql.raw(String(LIMITS.webhooks.pending))}) waiting)`;

const selected = ({ db }: Queries, accountId: string) =>
  db
    .selectFrom('webhook_endpoints')
    .selectAll()
    .select([pending.as('pending'), sql<boolean>`previous_until > now()`.as('has_previous')])
    .where('account_id', '=', accountId)
    .where('removed_at', 'is', null);

type Row = Awaited<ReturnType<ReturnType<typeof selected>['executeTakeFirstOrThrow']>>;

/** Registered endpoints, oldest first. */
export async function listWebhookEndpoints(queries: Queries, accountId: string): Promise<StoredWebhookEndpoint[]> {
  const rows = await selected(queries, accountId).where('url', 'is not', null).orderBy('created_at').execute();
  return rows.map(toEndpoint);
}

/** `id` null: the endpoint that represents every webhook_url. */
export async function findWebhookEndpoint(
  queries: Queries,
  accountId: string,
  id: string | null,
): Promise<StoredWebhookEndpoint | null> {
  const query = selected(queries, accountId);
  const row = await (id === null ? query.where('url', 'is', null) : query.where('id', '=', id)).executeTakeFirst();
  return row ? toEndpoint(row) : null;
}

/** False if the account has as many as it may. An existing endpoint with this id stays unchanged. */
export function insertWebhookEndpoint(storage: Storage, accountId: string, endpoint: NewEndpoint): Promise<boolean> {
  return inTransaction(storage, async (tx) => {
    // Lock the account, so that endpoints created concurrently count each other.
    await lockUnclosed(tx, accountId);
    const { db } = tx;
    const made = await db
      .selectFrom('webhook_endpoints')
      .select('id')
      .where('id', '=', endpoint.id)
      .where('account_id', '=', accountId)
      .executeTakeFirst();
    if (made) return true;
    const { registered } = await db
      .selectFrom('webhook_endpoints')
      .select(sql<number>`count(*)::integer`.as('registered'))
      .where('account_id', '=', accountId)
      .where('url', 'is not', null)
      .where('removed_at', 'is', null)
      .executeTakeFirstOrThrow();
    if (registered >= LIMITS.webhooks.endpoints) return false;
    const { id, url, description, eventTypes, secret } = endpoint;
    await db
      .insertInto('webhook_endpoints')
      .values({ id, account_id: accountId, url, description, event_types: [...eventTypes], secret })
      .execute();
    return true;
  });
}

/** Creates the endpoint that represents every webhook_url, unless the account has it. */
export async function ensureAccountEndpoint(
  queries: Queries,
  accountId: string,
  { id, secret }: Pick<NewEndpoint, 'id' | 'secret'>,
): Promise<void> {
  const { rows } = await sql`
    with account as materialized (
      select id from accounts where id = ${accountId} and deleted_at is null for key share
    ), made as (
      insert into webhook_endpoints (id, account_id, url, event_types, secret)
      select ${id}, account.id, null, '{}', ${secret} from account
      on conflict do nothing)
    select from account`.execute(queries.db);
  if (rows.length === 0) await refuseClosed(queries, accountId);
}

export interface EndpointChange {
  url?: string | undefined;
  description?: string | undefined;
  eventTypes?: readonly WebhookEventType[] | undefined;
  isEnabled?: boolean | undefined;
}

/** False if the account has no such registered endpoint. */
export function changeWebhookEndpoint(
  storage: Storage,
  accountId: string,
  id: string,
  { url, description, eventTypes, isEnabled }: EndpointChange,
): Promise<boolean> {
  return inTransaction(storage, async ({ db }) => {
    const changed = await db
      .updateTable('webhook_endpoints')
      .set({
        ...(url !== undefined && { url }),
        ...(description !== undefined && { description }),
        ...(eventTypes && { event_types: [...eventTypes] }),
        ...(isEnabled === true && { disabled_at: null, disabled_why: null }),
        ...((isEnabled === true || url !== undefined) && { failing_since: null }),
        id,
      })
      .where('id', '=', id)
      .where('account_id', '=', accountId)
      .where('url', 'is not', null)
      .where('removed_at', 'is', null)
      .returning('id')
      .executeTakeFirst();
    if (!changed) return false;
    if (isEnabled === false) await sql`select disable_webhook_endpoint(${accountId}, ${id}, 'owner')`.execute(db);
    // What was learned about the receiver concerns the earlier address.
    if (isEnabled === true || url !== undefined)
      await sql`
        update webhook_receivers set failures = 0, resting_until = '-infinity', next_due_at = now()
         where endpoint_id = ${id}`.execute(db);
    return true;
  });
}

/** The previous secret also signs for `overlapS` seconds. False: no such endpoint, or its secret is not `replaces`. */
export async function rotateWebhookSecret(
  { db }: Queries,
  accountId: string,
  { id, secret, overlapS, replaces }: { id: string; secret: string; overlapS: number; replaces?: string },
): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('webhook_endpoints')
    .set({
      previous_secret: sql<string>`secret`,
      previous_until: sql<Date>`now() + ${overlapS} * interval '1 second'`,
      secret,
    })
    .where('id', '=', id)
    .where('account_id', '=', accountId)
    .where('removed_at', 'is', null)
    .$if(replaces !== undefined, (endpoints) => endpoints.where('secret', '=', replaces!))
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

/** Also removes its deliveries, whose rows workers delete in steps. False if there is no such registered endpoint. */
export async function removeWebhookEndpoint({ db }: Queries, accountId: string, id: string): Promise<boolean> {
  const { rows } = await sql<{ removed: number }>`
    select remove_webhook_endpoints(${accountId}, ${id}) as removed`.execute(db);
  return rows[0]!.removed > 0;
}

/** Sends a test event; null if there is no such endpoint, or it is disabled. */
export async function testWebhookEndpoint({ db }: Queries, accountId: string, id: string): Promise<string | null> {
  const { rows } = await sql<{ id: string | null }>`select test_webhook_endpoint(${accountId}, ${id}) as id`.execute(
    db,
  );
  return rows[0]!.id;
}

const toEndpoint = (row: Row): StoredWebhookEndpoint => ({
  id: row.id,
  url: row.url,
  description: row.description,
  eventTypes: row.event_types as WebhookEventType[],
  secret: row.secret,
  previousUntil: row.has_previous ? row.previous_until : null,
  disabledAt: row.disabled_at,
  disabledWhy: row.disabled_why,
  failingSince: row.failing_since,
  skipped: row.skipped,
  pending: row.pending,
  createdAt: row.created_at,
});
