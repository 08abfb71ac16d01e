import type { WebhookAttempt } from '@eloquentpoll/contracts';
import { sql } from 'kysely';
import type { Queries } from './open-storage.ts';

// The log of an endpoint's deliveries, newest first.

export interface StoredDelivery {
  id: string;
  eventId: string;
  type: string;
  url: string;
  status: 'pending' | 'delivered' | 'failed';
  attempts: number;
  log: readonly WebhookAttempt[];
  /** Null where there is none. */
  nextAttemptAt: Date | null;
  createdAt: Date;
  endedAt: Date | null;
  data: Record<string, unknown>;
}

export interface DeliveryFilter {
  status?: StoredDelivery['status'] | undefined;
  /** The last delivery of the page before. */
  after?: string | undefined;
  limit: number;
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

export function listDeliveries(
  queries: Queries,
  accountId: string,
  endpointId: string,
  { status, after, limit }: DeliveryFilter,
): Promise<StoredDelivery[]> {
  let query = selected(queries, accountId, endpointId);
  if (status) query = query.where('d.status', '=', status);
  if (after !== undefined)
    query = query.where(
      sql<boolean>`(d.created_at, d.id) < (select created_at, id from webhook_deliveries where id = ${after} and account_id = ${accountId})`,
    );
  return query.orderBy('d.created_at', 'desc').orderBy('d.id', 'desc').limit(limit).execute();
}

export async function findDelivery(
  queries: Queries,
  accountId: string,
  endpointId: string,
  id: string,
): Promise<StoredDelivery | null> {
  return (await selected(queries, accountId, endpointId).where('d.id', '=', id).executeTakeFirst()) ?? null;
}

/** Null when the account has no such delivery. */
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
