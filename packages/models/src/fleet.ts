import { withTimeout } from '@eloquentpoll/ops/with-timeout';
import type { Redis } from 'ioredis';
import type { BreakerChange } from './breaker.ts';
import { HEALTH_SCRIPT, healthKey, probeKey } from './health-script.ts';
import { add, type CallTally, countVote, emptyTally, HALF_LIFE_MS } from './record.ts';

// Shares the health of models between workers through Redis: counters are added in one round trip per second. Without
// Redis, the counters wait, and every process relies on its own calls.

const FLUSH_MS = 1_000;
const EXCHANGE_TIMEOUT_MS = 500;

export interface SharedHealth {
  /** A vote that ended. `latencyMs`: null if it failed. */
  vote(modelId: string, latencyMs: number | null): void;
  breakerChanged(modelId: string, change: BreakerChange): void;
  /** True if this process may send the one call that tests a resting model. */
  claimProbe(modelId: string, forMs: number): Promise<boolean>;
  releaseProbe(modelId: string): void;
  /** Sends what is pending. */
  close(): Promise<void>;
}

interface Pending {
  tally: CallTally;
  breaker: BreakerChange | null;
}

export interface FleetOptions {
  /** Null: nothing is shared. */
  redis: Pick<Redis, 'eval' | 'set' | 'del'> | null;
  prefix: string;
  modelIds: readonly string[];
  /** Called for breakers that other processes changed. */
  onBreaker(modelId: string, change: BreakerChange): void;
}

export function joinFleet({ redis, prefix, modelIds, onBreaker }: FleetOptions): SharedHealth {
  let pending = new Map<string, Pending>();
  const versions = new Map<string, number>();
  let timer: NodeJS.Timeout | null = null;
  let flushing: Promise<void> | null = null;
  let closed = false;

  function entryOf(modelId: string): Pending {
    const known = pending.get(modelId);
    if (known) return known;
    const entry: Pending = { tally: emptyTally(), breaker: null };
    pending.set(modelId, entry);
    return entry;
  }

  function schedule(ms: number): void {
    if (!redis || closed) return;
    if (timer && ms > 0) return;
    if (timer) clearTimeout(timer);
    timer = setTimeout(() => {
      timer = null;
      flushing ??= flush().finally(() => {
        flushing = null;
        if (pending.size > 0) schedule(FLUSH_MS);
      });
    }, ms);
    timer.unref();
  }

  async function flush(): Promise<void> {
    if (!redis) return;
    const sent = pending;
    pending = new Map();
    const updates: Record<string, unknown> = {};
    for (const [id, { tally, breaker }] of sent)
      updates[id] = {
        ...tally,
        ...(breaker ? { breaker: { level: breaker.level, rest_ms: Math.round(breaker.restMs) } } : {}),
      };
    const input = JSON.stringify({ models: modelIds, updates, half_life_ms: HALF_LIFE_MS });
    try {
      const output = await withTimeout(redis.eval(HEALTH_SCRIPT, 1, healthKey(prefix), input), EXCHANGE_TIMEOUT_MS);
      hear(output, sent);
    } catch {
      // Kept for the next round. If a round trip only seemed to fail, calls are counted twice, but they fade like all
      // others.
      for (const [id, lost] of sent) {
        const entry = entryOf(id);
        add(entry.tally, lost.tally);
        entry.breaker ??= lost.breaker;
      }
    }
  }

  function hear(output: unknown, sent: ReadonlyMap<string, Pending>): void {
    const rows: unknown = typeof output === 'string' ? JSON.parse(output) : null;
    if (!Array.isArray(rows)) return;
    for (const row of rows) {
      if (!Array.isArray(row)) continue;
      const [id, version, level, restMs] = row as unknown[];
      if (
        typeof id !== 'string' ||
        typeof version !== 'number' ||
        typeof level !== 'number' ||
        typeof restMs !== 'number'
      )
        continue;
      // A lower version counts too: after a failover, the new Redis' clock may be behind.
      if (version === versions.get(id)) continue;
      versions.set(id, version);
      // After our own change, the entry only repeats it, or a newer change of ours is still being sent.
      if (!sent.get(id)?.breaker && !pending.get(id)?.breaker) onBreaker(id, { level, restMs });
    }
  }

  return {
    vote(modelId, latencyMs) {
      if (!redis) return;
      countVote(entryOf(modelId).tally, latencyMs);
      schedule(FLUSH_MS);
    },
    breakerChanged(modelId, change) {
      if (!redis) return;
      entryOf(modelId).breaker = change;
      schedule(0);
    },
    async claimProbe(modelId, forMs) {
      if (!redis) return true;
      try {
        const set = redis.set(probeKey(prefix, modelId), '1', 'PX', Math.ceil(forMs), 'NX');
        return (await withTimeout(set, EXCHANGE_TIMEOUT_MS)) === 'OK';
      } catch {
        return true;
      }
    },
    releaseProbe(modelId) {
      redis?.del(probeKey(prefix, modelId)).catch(() => {});
    },
    async close() {
      closed = true;
      if (timer) clearTimeout(timer);
      await flushing;
      if (pending.size > 0) await flush();
    },
  };
}
