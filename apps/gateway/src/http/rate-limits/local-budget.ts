import type { Window, WindowState } from '../../config/rate-limit-policies.ts';

// The budget of one process while Redis is away. It is a share, because other gateways grant theirs too. When there are
// too many counters all are dropped, which gives a caller one extra window at most.

const SHARE = 0.5;
const MAX_COUNTERS = 10_000;

export interface LocalBudget {
  take(key: string, windows: readonly Window[]): WindowState[];
}

export function localBudget(now: () => number = () => performance.now()): LocalBudget {
  const counters = new Map<string, { count: number; endsAt: number }>();
  return {
    take(key, windows) {
      return windows.map((window) => {
        const name = `${key}:${window.seconds}`;
        let counter = counters.get(name);
        if (!counter || counter.endsAt <= now()) {
          if (counters.size >= MAX_COUNTERS) counters.clear();
          counter = { count: 0, endsAt: now() + window.seconds * 1_000 };
          counters.set(name, counter);
        }
        counter.count += 1;
        const limit = Math.max(1, Math.floor(window.limit * SHARE));
        return { window: { ...window, limit }, count: counter.count, leftMs: counter.endsAt - now() };
      });
    },
  };
}
