import { type ModelHealth, openHealth } from '@eloquentpoll/models/health';
import { loadPanels, type Panels } from '@eloquentpoll/models/panels';
import { SettingError } from '@eloquentpoll/ops/settings';
import { type ReceiptSigner, receiptSigner } from '@eloquentpoll/polls';
import { type Acceptance, type Accepted, keepTrackRecords, meanRunMs, type TrackRecords } from '@eloquentpoll/storage';
import type { AccountsContext } from '../accounts/context.ts';
import type { Config } from '../config/config.ts';
import { keepModelsOut, type ModelsOut } from './models-out.ts';
import { type RunBatch, runBatch } from './read/run-batch.ts';
import { type RunCache, runCache } from './read/run-cache.ts';
import { acceptQueue } from './run/accept-queue.ts';
import { type PollRereads, pollRereads } from './run/poll-rereads.ts';
import { type QueueOutlook, queueOutlook } from './run/queue-outlook.ts';

/** What is needed to accept polls and to read them. */
export interface PollsContext extends AccountsContext {
  readonly panels: Panels;
  /** How well each model answered recently. */
  readonly health: ModelHealth;
  /** Models that failed their test questions. */
  readonly modelsOut: ModelsOut;
  /** What audits say about panels. */
  readonly trackRecords: TrackRecords;
  /** Reads runs from Redis, many at once. */
  readonly runBatch: RunBatch;
  /** Cached run states that this process read from Postgres. */
  readonly runs: RunCache;
  /** Accepts polls in the order of each payer's queue; waiting polls of one account are accepted together. */
  readonly acceptPoll: (acceptance: Acceptance) => Promise<Accepted>;
  /** Estimates when a poll that is accepted now would start. */
  readonly outlook: QueueOutlook;
  /** Rereads the followed polls from Postgres at an interval. */
  readonly rereads: PollRereads;
  /** Signs receipts; null when this installation issues none. */
  readonly receipts: ReceiptSigner | null;
}

export function openPollsContext(
  base: AccountsContext,
  owned: AsyncDisposableStack,
  overrides: Partial<PollsContext>,
): PollsContext {
  const { bus, config, keys, limiter, log, storage } = base;
  const panels = overrides.panels ?? openPanels(config);
  const runs = overrides.runs ?? runCache();
  bus.onDeletion((pollId) => runs.forget(pollId));
  return {
    ...base,
    panels,
    health: overrides.health ?? openHealth({ redis: bus.redis, prefix: bus.prefix, panels }),
    modelsOut:
      overrides.modelsOut ?? keepModelsOut({ storage, onError: (err) => log.warn({ err }, 'models_out.read_failed') }),
    trackRecords:
      overrides.trackRecords ??
      keepTrackRecords(storage, {
        freshMs: config.audits.refreshMs,
        onError: (err) => log.warn({ err }, 'track_record.read_failed'),
      }),
    runBatch: overrides.runBatch ?? runBatch({ bus, keys, limiter }),
    runs,
    acceptPoll: acceptQueue(storage, {
      connections: Math.ceil(config.database.maxConnections / 3),
      ending: base.shutdown.ending,
      onLost: (err) => log.warn({ err }, 'accepts.lost_together'),
    }),
    outlook: overrides.outlook ?? queueOutlook({ bus, log, meanMs: () => meanRunMs(storage) }),
    rereads: overrides.rereads ?? owned.use(pollRereads({ storage, runs, log })),
    receipts: overrides.receipts ?? openReceipts(config),
  };
}

const openReceipts = ({ receipts }: Config): ReceiptSigner | null =>
  receipts &&
  receiptSigner(
    receipts.key,
    receipts.pastKeys.map((key) => key.toString('base64url')),
  );

export function openPanels({ models }: Config): Panels {
  try {
    return loadPanels(models);
  } catch (error) {
    throw SettingError.from('MODELS_FILE', error);
  }
}
