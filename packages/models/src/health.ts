import { isJsonObject } from '@eloquentpoll/contracts';
import { withTimeout } from '@eloquentpoll/ops/with-timeout';
import type { Redis } from 'ioredis';
import { healthKey } from './health-script.ts';
import type { Model } from './panel-types.ts';
import type { Panels } from './panels.ts';
import { type CallTally, emptyTally, type ModelRecord, summary } from './record.ts';

export type { ModelRecord } from './record.ts';

// The recent health of the models: failure rates and latencies, for seats and estimates. Without Redis, or if an entry
// is missing or damaged, the figures come from the roster file.

const READ_TIMEOUT_MS = 200;
const MAX_AGE_MS = 2_000;
/** Without a call for this long after its rest, a model does not count as failing: it is not known. */
const UNASKED_MS = 3_600_000;

export interface ModelHealth {
  /** By model id. Default: all models of the roster file. */
  snapshot(modelIds?: readonly string[]): Promise<ReadonlyMap<string, ModelRecord>>;
}

export interface HealthOptions {
  redis: Pick<Redis, 'hgetall'>;
  prefix: string;
  panels: Panels;
  /** Wall clock in milliseconds. */
  now?: () => number;
}

export function openHealth({ redis, prefix, panels, now = Date.now }: HealthOptions): ModelHealth {
  let entries: ReadonlyMap<string, Entry> = new Map();
  /** Computed from the newest entries. */
  let records = new Map<string, ModelRecord>();
  let readAt = Number.NEGATIVE_INFINITY;
  let reading: Promise<void> | null = null;

  async function read(): Promise<void> {
    // During an outage, Redis is asked no more often than usual.
    readAt = now();
    try {
      const texts = await withTimeout(redis.hgetall(healthKey(prefix)), READ_TIMEOUT_MS);
      // Parsed once here, not for each poll.
      entries = new Map(Object.entries(texts).flatMap(([id, text]) => entryOf(id, text)));
    } catch {
      // The last known entries stay in use.
    }
    records = new Map();
  }

  function newest(id: string): ModelRecord | undefined {
    const known = records.get(id);
    if (known) return known;
    const model = panels.model(id);
    if (!model) return undefined;
    const record = recordOf(model, entries.get(id), now());
    records.set(id, record);
    return record;
  }

  return {
    async snapshot(modelIds) {
      if (now() - readAt >= MAX_AGE_MS) reading ??= read().finally(() => (reading = null));
      if (reading) await reading;
      const ids = modelIds ?? panels.models().map(({ id }) => id);
      return new Map(
        ids.flatMap((id): [string, ModelRecord][] => {
          const record = newest(id);
          return record ? [[id, record]] : [];
        }),
      );
    },
  };
}

interface Entry {
  tally: CallTally;
  at: number;
  level: number;
  until: number;
}

function recordOf(model: Model, entry: Entry | undefined, now: number): ModelRecord {
  if (!entry) return summary(emptyTally(), 0, model, false);
  return summary(entry.tally, now - entry.at, model, entry.level > 0 && now - entry.until < UNASKED_MS);
}

function entryOf(id: string, text: string): [string, Entry][] {
  let entry: unknown;
  try {
    entry = JSON.parse(text);
  } catch {
    return [];
  }
  if (!isJsonObject(entry)) return [];
  const bins = Array.isArray(entry.bins) ? entry.bins.map(numberOf) : emptyTally().bins;
  const tally = { calls: numberOf(entry.calls), fails: numberOf(entry.fails), bins };
  return [[id, { tally, at: numberOf(entry.at), level: numberOf(entry.level), until: numberOf(entry.until) }]];
}

function numberOf(value: unknown): number {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0 ? value : 0;
}
