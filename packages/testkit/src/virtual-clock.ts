/** Time that advances only when nothing else can run: hours of polls take milliseconds, the same in every run. */
export interface VirtualClock {
  now(): number;
  after(ms: number, callback: () => void): () => void;
  /** Advances time until the promise settles; rejects if it never can. */
  run<T>(promise: Promise<T>): Promise<T>;
  /** Timers that are still set; after a poll has ended there must be none. */
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
        // Everything that can happen at this time happens before time advances.
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
