import { setImmediate as nextTurn } from 'node:timers/promises';
import { type BatchRowError, type BatchTerms, LIMITS } from '@eloquentpoll/contracts';
import { newBatchId } from '@eloquentpoll/polls';
import {
  addBatchRows,
  deleteBatch,
  findBatchKey,
  type NewBatchRow,
  openBatch,
  type RepeatedCustomId,
  StorageRefused,
  startBatch,
} from '@eloquentpoll/storage';
import { accountFrozen } from '../../accounts/frozen.ts';
import { prepareAccountEndpoint } from '../../accounts/webhooks/webhooks.ts';
import { ApiError } from '../../http/api-error.ts';
import type { PollsContext } from '../../polls/context.ts';
import { microUsdOf } from '../../polls/order/poll-order.ts';
import { keyBudgetReached } from '../../polls/run/key-budget-reached.ts';
import { chooseOnce } from './choose-once.ts';
import { tooLarge } from './metered-bytes.ts';
import type { RawRow } from './raw-row.ts';
import { readRow } from './read-row.ts';
import { batchInvalid, batchUnpaid, keyOfOtherBatch, tooManyBatches } from './refusals.ts';
import { worstCaseU } from './worst-case.ts';

// Reads the rows of a batch one by one, stores them in chunks, and starts the batch when all rows are valid. Until then
// nothing is reserved; after a failure the stored rows are deleted, now or by a sweep.

export interface BatchUpload {
  accountId: string;
  keyId?: string | undefined;
  loginId?: string | undefined;
  terms: BatchTerms;
  rows: AsyncIterable<RawRow>;
  maxRows: number;
  /** Complete once the rows have been read. */
  fingerprint: () => string;
  idempotencyKey: string | null;
}

export interface TakenBatch {
  batchId: string;
  /** An earlier upload with the same Idempotency-Key made it. */
  isReplayed: boolean;
}

export async function takeBatch(context: PollsContext, upload: BatchUpload): Promise<TakenBatch> {
  const { accountId, keyId, idempotencyKey: key } = upload;
  const known = key === null ? null : await findBatchKey(context.storage, accountId, key);
  if (known) return replayed(known, upload);
  const id = newBatchId();
  const opened = await openBatch(context.storage, { id, accountId, keyId, maxOpen: LIMITS.batch.open });
  if (opened === 'too_many') throw tooManyBatches();
  if (opened === 'frozen') throw accountFrozen();
  try {
    return await fill(context, upload, id);
  } catch (error) {
    await deleteBatch(context.storage, accountId, id).catch((err: unknown) =>
      context.log.warn({ err, batch_id: id }, 'batch.drop_failed'),
    );
    // The sweep took a pause of two minutes for an upload that was broken off.
    if (error instanceof StorageRefused && error.code === TAKES_NO_ROWS)
      throw new ApiError('service_unavailable', { retryAfterSeconds: 1, cause: error });
    throw error;
  }
}

/** See add_batch_rows. */
const TAKES_NO_ROWS = 'EP009';

/** A retry: its body must be the same, and is not stored again. */
async function replayed({ batchId, fingerprint }: { batchId: string; fingerprint: string }, upload: BatchUpload) {
  for await (const _ of upload.rows);
  if (upload.fingerprint() !== fingerprint) throw keyOfOtherBatch();
  return { batchId, isReplayed: true };
}

async function fill(context: PollsContext, upload: BatchUpload, id: string): Promise<TakenBatch> {
  const { accountId, terms, idempotencyKey: key } = upload;
  const faults = new Faults();
  const choose = chooseOnce(context, accountId);
  const store = new RowStore(context, id, faults);
  let rowCount = 0;
  let turnBeganAt = performance.now();
  for await (const raw of upload.rows) {
    rowCount += 1;
    if (rowCount > upload.maxRows) throw tooLarge(`A batch may have at most ${upload.maxRows} rows.`);
    const read = await readRow(context, raw, terms, choose);
    if ('errors' in read) faults.add(read.errors, 'isLast' in raw && raw.isLast === true);
    else await store.add(read.row);
    if (store.isDue) await store.flush();
    if (performance.now() - turnBeganAt > MAX_TURN_MS) {
      await nextTurn();
      turnBeganAt = performance.now();
    }
  }
  await store.flush();
  if (store.hasWebhooks || terms.webhook_url !== undefined) await prepareAccountEndpoint(context, accountId);
  if (rowCount === 0) faults.add([{ line: 1, custom_id: null, field: null, message: 'there are no rows' }]);
  if (faults.count > 0 && (terms.skip_invalid !== true || faults.isCut || store.count === 0))
    throw batchInvalid(faults);

  const maxCostU = terms.max_cost_usd === undefined ? null : BigInt(microUsdOf(terms.max_cost_usd));
  const reserveU = maxCostU !== null && maxCostU < store.worstU ? maxCostU : store.worstU;
  const started = await startBatch(context.storage, {
    id,
    accountId,
    loginId: upload.loginId,
    idempotency: key === null ? undefined : { key, fingerprint: upload.fingerprint() },
    reserveU,
    maxCostU,
    metadata: terms.metadata ?? {},
    webhookUrl: terms.webhook_url,
    skipped: { count: faults.rows, first: faults.first },
    keepS: context.config.retentionS,
  });
  switch (started.kind) {
    case 'started':
      return { batchId: started.batchId, isReplayed: false };
    case 'joined':
      return { batchId: started.batchId, isReplayed: true };
    case 'reused':
      throw keyOfOtherBatch();
    case 'frozen':
      throw accountFrozen();
    case 'ended':
      throw new ApiError(upload.keyId === undefined ? 'authentication_required' : 'invalid_api_key');
    case 'reads_only':
      throw new ApiError('read_only_key');
    case 'key_limit':
      throw await keyBudgetReached(context, upload.keyId!, reserveU, 'batch');
    case 'gone':
      throw new ApiError('service_unavailable', { retryAfterSeconds: 1 });
    case 'insufficient':
      throw batchUnpaid(context.config, { reserveU, isLimited: reserveU !== store.worstU, ...started });
    default:
      return started satisfies never;
  }
}

/** Other requests get a turn after so much work. */
const MAX_TURN_MS = 10;

/** The faults of all rows: counts all, keeps the first. */
class Faults {
  readonly first: BatchRowError[] = [];
  count = 0;
  /** Number of rows with faults. */
  rows = 0;
  /** The rows after this one could not be read. */
  isCut = false;

  add(errors: readonly BatchRowError[], isCut = false): void {
    this.count += errors.length;
    this.rows += 1;
    this.isCut ||= isCut;
    this.first.push(...errors.slice(0, LIMITS.batch.errors - this.first.length));
  }
}

const CHUNK_ROWS = 500;
/** Slow uploads are stored at least this often, because two minutes without storing count as broken off. */
const MAX_UNSTORED_MS = 30_000;

/** Stores rows in chunks and adds up what they may cost. */
class RowStore {
  worstU = 0n;
  count = 0;
  /** At least one row has a webhook_url of its own. */
  hasWebhooks = false;
  readonly #context: PollsContext;
  readonly #id: string;
  readonly #faults: Faults;
  #chunk: { row: NewBatchRow; worstU: bigint }[] = [];
  #dueAt = performance.now() + MAX_UNSTORED_MS;

  constructor(context: PollsContext, id: string, faults: Faults) {
    this.#context = context;
    this.#id = id;
    this.#faults = faults;
  }

  async add(row: NewBatchRow): Promise<void> {
    this.#chunk.push({ row, worstU: await worstCaseU(this.#context, row.order) });
  }

  get isDue(): boolean {
    return this.#chunk.length >= CHUNK_ROWS || performance.now() > this.#dueAt;
  }

  async flush(): Promise<void> {
    const chunk = this.#chunk;
    if (chunk.length === 0 && !this.isDue) return;
    this.#chunk = [];
    this.#dueAt = performance.now() + MAX_UNSTORED_MS;
    const rows = chunk.map(({ row }) => row);
    const repeated = await addBatchRows(this.#context.storage, this.#id, rows);
    const left = new Set(repeated.map(({ line }) => line));
    for (const each of repeated) this.#faults.add([takenBefore(each)]);
    for (const { row, worstU } of chunk) {
      if (left.has(row.line)) continue;
      this.worstU += worstU;
      this.hasWebhooks ||= row.order.webhook_url !== undefined;
      this.count += 1;
    }
  }
}

const takenBefore = ({ line, customId, knownLine }: RepeatedCustomId): BatchRowError => ({
  line,
  custom_id: customId,
  field: 'custom_id',
  message: `custom_id is that of line ${knownLine} too`,
});
