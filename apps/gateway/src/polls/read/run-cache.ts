import type { StoredRun } from '@eloquentpoll/storage';
import { type RunView, viewOfStored } from './run-view.ts';

// What this process has read of runs from Postgres. An end changes only when its poll is deleted, of which other gateways
// hear by Redis, and without it from here on by its age.

/** "Still running" holds this long: longer than a round of rereads takes. */
const FRESH_MS = 5_000;
/** So long does a deleted poll seem to be there while Redis is away. */
const END_FRESH_MS = 60_000;
const MAX_ENDED = 50_000;
const MAX_RUNNING = 20_000;

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
}

interface Kept {
  run: RunView;
  readAt: number;
  isDeleted?: boolean;
}

export function runCache(now: () => number = () => performance.now()): RunCache {
  const ended = new Map<string, Kept>();
  const running = new Map<string, Kept>();

  const fresh = (kept: Kept | undefined, forMs: number) => (kept && now() - kept.readAt < forMs ? kept : undefined);

  function storeEnd(run: RunView): void {
    running.delete(run.pollId);
    if (fresh(ended.get(run.pollId), END_FRESH_MS)?.isDeleted) return;
    withSpace(ended, MAX_ENDED).set(run.pollId, { run, readAt: now() });
  }

  return {
    ended: (pollId) => fresh(ended.get(pollId), END_FRESH_MS)?.run,
    running: (pollId) => fresh(running.get(pollId), FRESH_MS)?.run,
    store(stored) {
      const run = viewOfStored(stored);
      if (run.status === 'running') {
        running.delete(run.pollId);
        withSpace(running, MAX_RUNNING).set(run.pollId, { run, readAt: now() });
      } else storeEnd(run);
      return run;
    },
    storeEnd,
    forget(pollId) {
      running.delete(pollId);
      const run = viewOfStored({ pollId, accountId: null, status: 'failed', resultId: null });
      withSpace(ended, MAX_ENDED).set(pollId, { run, readAt: now(), isDeleted: true });
    },
  };
}

/** The map with space for one more entry: the oldest one leaves. */
function withSpace<T>(map: Map<string, T>, maxEntries: number): Map<string, T> {
  const [oldest] = map.size >= maxEntries ? map.keys() : [];
  if (oldest !== undefined) map.delete(oldest);
  return map;
}
