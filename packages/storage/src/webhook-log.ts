import type { WebhookAttempt } from '@eloquentpoll/contracts';
import { sql } from 'kysely';
import type { Queries } from './open-storage.ts';

// The log of an endpoint's deliveries, newest first. A page continues after the last delivery of the previous page and
// reads a bounded number of rows, however rarely a status occurs.

/** Rows that one page reads when filtering by status. */
const MAX_SCANNED = 700;

export interface StoredDelivery {
  id: string;
  eventId: string;
  type: string;
  url: string;
  status: 'pending' | 'delivered' | 'failed';
  attempts: number;
  log: readonly WebhookAttempt[];
  /** Null if there will be none. */
  nextAttemptAt: Date | null;
  createdAt: Date;
  endedAt: Date | null;
  data: Record<string, unknown>;
}

export interface DeliveryFilter {
  status?: StoredDelivery['status'] | undefined;
  /** The last delivery of the previous page. */
  after?: string | undefined;
  limit: number;
}

export interface DeliveryPage {
  deliveries: StoredDelivery[];
  /** Where to continue; null at the end. With a status filter a page may be short or empty before the end. */
  after: string | null;
}

const selected = ({ db }: Queries, accountId: string, endpointId: string) =>
  db
    .selectFrom('webhook_deliveries as d')
    .innerJoin('webhook_events as v', 'v.id', 'd.event_id')
    .innerJoin('webhook_endpoints as e', 'e.id', 'd.endpoint_id')
    .select([
      'd.id',
      'd.event_id as eventId',
      'v.type',
      'd.status',
      'd.attempts',
      'd.created_at as createdAt',
      'd.ended_at as endedAt',
      'v.data',
      sql<string>`coalesce(e.url, d.url)`.as('url'),
      sql<WebhookAttempt[]>`d.log`.as('log'),
      sql<Date | null>`case when d.status = 'pending' then greatest(d.due_at, now()) end`.as('nextAttemptAt'),
    ])
    .where('d.created_at', '>', sql<Date>`now() - interval '30 days'`)
    .where('e.removed_at', 'is', null)
    .where('d.account_id', '=', accountId)
    .where('d.endpoint_id', '=', endpointId);

export async function listDeliveries(
  queries: Queries,
  accountId: string,
  endpointId: string,
  { status, after, limit }: DeliveryFilter,
): Promise<DeliveryPage> {
  const { db } = queries;
  // A parameter of the next statement: a position from a subquery could not be used as a bound of the index.
  const position = after === undefined ? undefined : await positionOf(queries, accountId, after);
  if (position === null) return { deliveries: [], after: null };
  const maxRows = status ? MAX_SCANNED : limit + 1;
  const { rows } = await sql<{ id: string; fits: boolean; place: number }>`
    with scanned as materialized (
      select id, ${status ? sql`status = ${status}` : sql`true`} as fits,
             row_number() over (order by created_at desc, id desc)::integer as place
        from webhook_deliveries
       where endpoint_id = ${endpointId} and account_id = ${accountId} and created_at > now() - interval '30 days'
         ${position ? sql`and (created_at, id) < (${position.createdAt}::timestamptz, ${position.id})` : sql``}
       order by created_at desc, id desc limit ${maxRows})
    select id, fits, place from scanned where fits or place = ${maxRows} order by place`.execute(db);
  const found = rows.filter(({ fits }) => fits).map(({ id }) => id);
  const shown = found.slice(0, limit);
  const last = rows.at(-1);
  const goesOn = found.length > limit ? shown.at(-1)! : last?.place === maxRows ? last.id : null;
  if (shown.length === 0) return { deliveries: [], after: goesOn };
  const deliveries = await selected(queries, accountId, endpointId)
    .where('d.id', 'in', shown)
    .orderBy('d.created_at', 'desc')
    .orderBy('d.id', 'desc')
    .execute();
  return { deliveries, after: goesOn };
}

/** Null if the account has no such delivery. */
async function positionOf({ db }: Queries, accountId: string, id: string) {
  const row = await db
    .selectFrom('webhook_deliveries')
    .select(sql<string>`created_at::text`.as('createdAt'))
    .where('id', '=', id)
    .where('account_id', '=', accountId)
    .executeTakeFirst();
  return row ? { ...row, id } : null;
}

export async function findDelivery(
  queries: Queries,
  accountId: string,
  endpointId: string,
  id: string,
): Promise<StoredDelivery | null> {
  return (await selected(queries, accountId, endpointId).where('d.id', '=', id).executeTakeFirst()) ?? null;
}

/** Null if the account has no such delivery. */
export async function resendDelivery(
  { db }: Queries,
  accountId: string,
  endpointId: string,
  id: string,
): Promise<'resent' | 'under_way' | 'disabled' | null> {
  const { rows } = await sql<{ outcome: 'resent' | 'under_way' | 'disabled' | null }>`
    select resend_webhook_delivery(${accountId}, ${endpointId}, ${id}) as outcome`.execute(db);
  return rows[0]!.outcome;
}
