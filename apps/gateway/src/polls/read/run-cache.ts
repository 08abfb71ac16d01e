import type { StoredRun } from '@eloquentpoll/storage';
import { type RunView, viewOfStored } from './run-view.ts';

// What this process has read of runs from Postgres. An end never changes, so it is kept while there is space.

/** "Still running" holds this long: longer than a round of rereads takes. */
const FRESH_MS = 5_000;
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
}

export function runCache(): RunCache {
  const ended = new Map<string, RunView>();
  const running = new Map<string, { run: RunView; readAt: number }>();

  function storeEnd(run: RunView): void {
    running.delete(run.pollId);
    withSpace(ended, MAX_ENDED).set(run.pollId, run);
  }

  return {
    ended: (pollId) => ended.get(pollId),
    running(pollId) {
      const known = running.get(pollId);
      return known && performance.now() - known.readAt < FRESH_MS ? known.run : undefined;
    },
    store(stored) {
      const run = viewOfStored(stored);
      if (run.status === 'running') {
        running.delete(run.pollId);
        withSpace(running, MAX_RUNNING).set(run.pollId, { run, readAt: performance.now() });
      } else storeEnd(run);
      return run;
    },
    storeEnd,
  };
}

/** The map with space for one more entry: the oldest one leaves. */
function withSpace<T>(map: Map<string, T>, maxEntries: number): Map<string, T> {
  const [oldest] = map.size >= maxEntries ? map.keys() : [];
  if (oldest !== undefined) map.delete(oldest);
  return map;
}
