import { LIMITS, type WebhookAttempt } from '@eloquentpoll/contracts';
import { sql } from 'kysely';
import type { Queries, Storage } from './open-storage.ts';
import { repeatable } from './transaction.ts';

// What workers do with deliveries: create them from events, claim those that are due, and record outcomes.

export interface ClaimTerms {
  worker: string;
  limit: number;
  /** How many of these may go to receivers that did not answer well lately. */
  slow: number;
  leaseMs: number;
  perReceiver: number;
  perAccount: number;
}

export interface ClaimedDelivery {
  id: string;
  /** Counts from 1; fences the writes of the attempt. */
  attempt: number;
  /** Attempts since the delivery was created or resent, including this one. */
  tries: number;
  eventId: string;
  type: string;
  data: Record<string, unknown>;
  happenedAt: Date;
  createdAt: Date;
  endpointId: string;
  url: string;
  /** Encrypted. */
  secret: string;
  /** Also signs the delivery; null after its overlap has ended. */
  previousSecret: string | null;
  /** The receiver answers well. */
  isQuick: boolean;
  /** Its three days are over. */
  isLast: boolean;
}

export type AttemptOutcome =
  | { kind: 'delivered' | 'failed' | 'gone'; entry: WebhookAttempt; isQuick: boolean }
  | { kind: 'retry'; entry: WebhookAttempt; isQuick: boolean; retryMs: number }
  | { kind: 'released' };

/** Returns how many new events there were. */
export async function spreadWebhookEvents({ db }: Queries, limit: number): Promise<number> {
  const { rows } = await sql<{ events: number }>`
    select spread_webhook_events(${limit}, ${LIMITS.webhooks.pending}) as events`.execute(db);
  return rows[0]!.events;
}

export async function claimDeliveries({ db }: Queries, terms: ClaimTerms): Promise<ClaimedDelivery[]> {
  const p = JSON.stringify({
    worker: terms.worker,
    limit: terms.limit,
    slow: terms.slow,
    lease_ms: terms.leaseMs,
    per_receiver: terms.perReceiver,
    per_account: terms.perAccount,
  });
  const { rows } = await sql<ClaimedDelivery>`
    select id, attempt, tries, event_id as "eventId", type, data, happened_at as "happenedAt", created_at as "createdAt",
           endpoint_id as "endpointId", url, secret, previous_secret as "previousSecret", is_quick as "isQuick", is_last as "isLast"
      from claim_webhook_deliveries(${p}::jsonb)`.execute(db);
  return rows;
}

/** False if the lease was lost or the delivery has ended. Safe to repeat. */
export async function endAttempt(
  { db }: Storage,
  { id, attempt }: Pick<ClaimedDelivery, 'id' | 'attempt'>,
  worker: string,
  outcome: AttemptOutcome,
): Promise<boolean> {
  const p = JSON.stringify({
    id,
    attempt,
    worker,
    outcome: outcome.kind,
    ...(outcome.kind !== 'released' && { entry: outcome.entry, is_quick: outcome.isQuick }),
    ...(outcome.kind === 'retry' && { retry_ms: outcome.retryMs }),
  });
  const { rows } = await repeatable(() =>
    sql<{ ended: boolean }>`select end_webhook_attempt(${p}::jsonb) as ended`.execute(db),
  );
  return rows[0]!.ended;
}

export interface WebhookFigures {
  /** Deliveries waiting for an attempt. */
  pending: number;
  /**
   * Since when the oldest event has waited to be spread, or the oldest delivery to an active receiver to be claimed.
   */
  oldestDueAt: Date | null;
}

/** Reads only what is unfinished. */
export async function readWebhookFigures({ db }: Queries): Promise<WebhookFigures> {
  const { rows } = await sql<WebhookFigures>`
    select (select count(*)::integer from (select from webhook_deliveries where status = 'pending' limit 100000) p) as pending,
           least((select min(created_at) from webhook_events where spread_at is null),
                 (select min(next_due_at) from webhook_receivers where next_due_at <= now())) as "oldestDueAt"`.execute(
    db,
  );
  return rows[0]!;
}
