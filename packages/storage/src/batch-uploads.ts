import type { BatchSkipped, Metadata } from '@eloquentpoll/contracts';
import type { PollOrder } from '@eloquentpoll/polls';
import { sql } from 'kysely';
import type { Queries, Storage } from './open-storage.ts';
import { repeatable } from './transaction.ts';

// A batch is opened, filled row by row and started. Before its start nothing is reserved: one that is broken off leaves
// rows for the sweep and nothing else.

export interface NewBatch {
  id: string;
  accountId: string;
  keyId?: string | undefined;
  /** How many batches of the account may not have ended, this one included. */
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
  /** With every rule checked and its models chosen. */
  order: PollOrder;
  gold: string | null;
}

/** A row that was left out because an earlier one has its custom id. */
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
  /** Of who uploaded it by login. */
  loginId?: string | undefined;
  /** The caller's key, and a hash of the request that it stands for. */
  idempotency?: { key: string; fingerprint: string } | undefined;
  reserveU: bigint;
  maxCostU: bigint | null;
  metadata: Metadata;
  /** Where its end is sent. */
  webhookUrl?: string | undefined;
  skipped: BatchSkipped;
  /** How long it is kept once it has ended; until it is deleted, without it. */
  keepS?: number | undefined;
}

export type StartedBatch =
  | { kind: 'started'; batchId: string }
  /** The key stands for this batch, uploaded before with the same body. */
  | { kind: 'joined'; batchId: string }
  /**
   * Nothing is left of the upload: the key stands for another body, the account is frozen, the upload took too long, the API key or login
   * was ended meanwhile, the key only reads by now, or its limit leaves too little.
   */
  | { kind: 'reused' | 'frozen' | 'gone' | 'ended' | 'reads_only' | 'key_limit' }
  /** Nothing is left of the upload. */
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

/** The fingerprint of the body that a key of the account stands for, as long as its batch is kept; null for a new key. */
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
