import type { BatchSkipped, Metadata } from '@eloquentpoll/contracts';
import type { PollOrder } from '@eloquentpoll/polls';
import { sql } from 'kysely';
import type { Queries, Storage } from './open-storage.ts';
import { repeatable } from './transaction.ts';

// A batch is opened, filled row by row and started. Nothing is reserved before its start, so an interrupted upload
// leaves only rows for the sweep to delete.

export interface NewBatch {
  id: string;
  accountId: string;
  keyId?: string | undefined;
  /** How many unended batches the account may have, including this one. */
  maxOpen: number;
}

export const openBatch = (
  { db }: Storage,
  { id, accountId, keyId, maxOpen }: NewBatch,
): Promise<'opened' | 'too_many' | 'frozen'> =>
  repeatable(async () => {
    const { rows } = await sql<{ outcome: 'opened' | 'too_many' | 'frozen' }>`
      select open_batch(${id}, ${accountId}, ${keyId ?? null}, ${maxOpen}) as outcome`.execute(db);
    return rows[0]!.outcome;
  });

export interface NewBatchRow {
  line: number;
  customId: string;
  /** With all rules checked and its models chosen. */
  order: PollOrder;
  gold: string | null;
}

/** A row that was left out because an earlier row has the same custom id. */
export interface RepeatedCustomId {
  line: number;
  customId: string;
  knownLine: number;
}

export const addBatchRows = (
  { db }: Storage,
  batchId: string,
  rows: readonly NewBatchRow[],
): Promise<RepeatedCustomId[]> =>
  repeatable(async () => {
    const added = JSON.stringify(
      rows.map(({ line, customId, order, gold }) => ({ line, custom_id: customId, request: order, gold })),
    );
    const { rows: repeated } = await sql<RepeatedCustomId>`
      select line, custom_id as "customId", known_line as "knownLine"
        from add_batch_rows(${batchId}, ${added}::jsonb)`.execute(db);
    return repeated;
  });

export interface BatchStart {
  id: string;
  accountId: string;
  /** The login of the uploader, if it was uploaded with one. */
  loginId?: string | undefined;
  /** The caller's idempotency key and a hash of its request. */
  idempotency?: { key: string; fingerprint: string } | undefined;
  reserveU: bigint;
  maxCostU: bigint | null;
  metadata: Metadata;
  /** Where the event of its end is sent. */
  webhookUrl?: string | undefined;
  skipped: BatchSkipped;
  /** How long the batch is kept after its end; without it, until it is deleted. */
  keepS?: number | undefined;
}

export type StartedBatch =
  | { kind: 'started'; batchId: string }
  /** The key belongs to this batch, uploaded earlier with the same body. */
  | { kind: 'joined'; batchId: string }
  /**
   * The upload was discarded: the key belongs to another body, the account is frozen, the upload took too long, the API
   * key or login has ended meanwhile, the API key is read-only by now, or too little is left of its limit.
   */
  | { kind: 'reused' | 'frozen' | 'gone' | 'ended' | 'reads_only' | 'key_limit' }
  /** The upload was discarded. */
  | { kind: 'insufficient'; availableU: bigint; settlingU: bigint };

export const startBatch = ({ db }: Storage, start: BatchStart): Promise<StartedBatch> =>
  repeatable(async () => {
    const request = JSON.stringify({
      id: start.id,
      account_id: start.accountId,
      login_id: start.loginId ?? null,
      ...start.idempotency,
      reserve_u: String(start.reserveU),
      max_cost_u: start.maxCostU === null ? null : String(start.maxCostU),
      metadata: start.metadata,
      webhook_url: start.webhookUrl ?? null,
      skipped: start.skipped,
      keep_s: start.keepS ?? null,
    });
    const { rows } = await sql<{
      outcome: StartedBatch['kind'];
      batch_id: string;
      available_u: bigint;
      settling_u: bigint;
    }>`select * from start_batch(${request}::jsonb)`.execute(db);
    const { outcome, batch_id, available_u, settling_u } = rows[0]!;
    switch (outcome) {
      case 'started':
      case 'joined':
        return { kind: outcome, batchId: batch_id };
      case 'insufficient':
        return { kind: outcome, availableU: available_u, settlingU: settling_u };
      default:
        return { kind: outcome };
    }
  });

/** The batch and request fingerprint of an idempotency key, for as long as the batch is kept; null for a new key. */
export async function findBatchKey(
  { db }: Queries,
  accountId: string,
  key: string,
): Promise<{ batchId: string; fingerprint: string } | null> {
  const row = await db
    .selectFrom('batches')
    .select(['id', 'fingerprint'])
    .where('account_id', '=', accountId)
    .where('idempotency_key', '=', key)
    .executeTakeFirst();
  return row ? { batchId: row.id, fingerprint: row.fingerprint ?? '' } : null;
}
