import type { StoredRun } from '@eloquentpoll/storage';
import { type RunView, viewOfStored } from './run-view.ts';

// Runs that this process has read from Postgres. An end changes only when its poll is deleted. Other gateways learn of
// a deletion from Redis; without that message they drop the entry when it expires.

/** How long "still running" is trusted: longer than one round of rereads takes. */
const FRESH_MS = 5_000;
/** How long a deleted poll may still be served by other gateways while Redis is away. */
const END_FRESH_MS = 60_000;
const ENDED = { forMs: END_FRESH_MS, entries: 50_000 };
const RUNNING = { forMs: FRESH_MS, entries: 20_000 };

export interface RunCache {
  ended(pollId: string): RunView | undefined;
  /** The run, if Postgres recently said that it was running. */
  running(pollId: string): RunView | undefined;
  /** Stores a state read from Postgres. */
  store(run: StoredRun): RunView;
  /** Stores an end learned from another source. */
  storeEnd(run: RunView): void;
  /** The poll was deleted: from here on it has no owner, even if a look-up in flight still finds it. */
  forget(pollId: string): void;
  /** Includes expired entries; they are dropped when the next one is stored. */
  size(): number;
}

interface Kept {
  run: RunView;
  readAt: number;
  isDeleted: boolean;
}

export function runCache(now: () => number = () => performance.now()): RunCache {
  const ended = new Map<string, Kept>();
  const running = new Map<string, Kept>();

  const fresh = (kept: Kept | undefined, forMs: number) => (kept && now() - kept.readAt < forMs ? kept : undefined);

  /** Keeps the newest entries at the end of the map, so that expired or excess ones are found at its start. */
  function keep(
    map: Map<string, Kept>,
    run: RunView,
    limit: { forMs: number; entries: number },
    isDeleted = false,
  ): void {
    map.delete(run.pollId);
    for (const [pollId, kept] of map) {
      if (map.size < limit.entries && fresh(kept, limit.forMs)) break;
      map.delete(pollId);
    }
    map.set(run.pollId, { run, readAt: now(), isDeleted });
  }

  function storeEnd(run: RunView): void {
    running.delete(run.pollId);
    if (fresh(ended.get(run.pollId), END_FRESH_MS)?.isDeleted) return;
    keep(ended, run, ENDED);
  }

  return {
    ended: (pollId) => fresh(ended.get(pollId), END_FRESH_MS)?.run,
    running: (pollId) => fresh(running.get(pollId), FRESH_MS)?.run,
    store(stored) {
      const run = viewOfStored(stored);
      if (run.status === 'running') keep(running, run, RUNNING);
      else storeEnd(run);
      return run;
    },
    storeEnd,
    forget(pollId) {
      running.delete(pollId);
      keep(ended, viewOfStored({ pollId, accountId: null, status: 'failed', resultId: null }), ENDED, true);
    },
    size: () => ended.size + running.size,
  };
}
