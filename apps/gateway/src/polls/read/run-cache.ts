import type { StoredRun } from '@eloquentpoll/storage';
import { type RunView, viewOfStored } from './run-view.ts';

// What this process has read of runs from Postgres. An end changes only when its poll is deleted, of which other gateways
// hear by Redis, and without it from here on by its age.

/** "Still running" holds this long: longer than a round of rereads takes. */
const FRESH_MS = 5_000;
/** So long does a deleted poll seem to be there while Redis is away. */
const END_FRESH_MS = 60_000;
const ENDED = { forMs: END_FRESH_MS, entries: 50_000 };
const RUNNING = { forMs: FRESH_MS, entries: 20_000 };

export interface RunCache {
  ended(pollId: string): RunView | undefined;
  /** Running, as Postgres said a moment ago. */
  running(pollId: string): RunView | undefined;
  /** Keeps what Postgres says. */
  store(run: StoredRun): RunView;
  /** Keeps an end that another source gave. */
  storeEnd(run: RunView): void;
  /** The poll was deleted: from now on it has no owner, whatever look-ups in flight bring. */
  forget(pollId: string): void;
  /** What is out of date leaves with the next one that is kept. */
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

  /** The newest at the end, so that what is out of date or too many is at the beginning. */
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
