/** Time that passes only when nothing else is left to do: hours of polls in milliseconds, the same on every run. */
export interface VirtualClock {
  now(): number;
  after(ms: number, callback: () => void): () => void;
  /** Lets time pass until the promise settles; rejects when it never would. */
  run<T>(promise: Promise<T>): Promise<T>;
  /** Timers that are still set: a poll that ended leaves none. */
  pending(): number;
}

export function virtualClock(): VirtualClock {
  let now = 0;
  let order = 0;
  const timers = new Map<number, { at: number; callback: () => void }>();

  function earliest(): number | null {
    let first: number | null = null;
    for (const [id, { at }] of timers) if (first === null || at < timers.get(first)!.at) first = id;
    return first;
  }

  return {
    now: () => now,
    after(ms, callback) {
      const id = order++;
      timers.set(id, { at: now + Math.max(0, ms), callback });
      return () => void timers.delete(id);
    },
    pending: () => timers.size,
    async run(promise) {
      let settled = false;
      const watch = () => {
        settled = true;
      };
      promise.then(watch, watch);
      for (;;) {
        // Everything that can happen at this moment happens before time moves on.
        await new Promise((resolve) => setImmediate(resolve));
        if (settled) return promise;
        const id = earliest();
        if (id === null) throw new Error('nothing is left that could settle this promise');
        const timer = timers.get(id)!;
        timers.delete(id);
        now = timer.at;
        timer.callback();
      }
    },
  };
}
