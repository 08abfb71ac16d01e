// Time for simulated polls: it stands still while anything can still happen, then jumps to the next alarm.

export interface SimulatedTime {
  now(): number;
  /** Calls back once, unless cancelled by what it returns. */
  after(ms: number, callback: () => void): () => void;
}

/** Runs `work` from time 0 until it settles, and rejects when it waits for something that no alarm brings. */
export async function inSimulatedTime<T>(work: (time: SimulatedTime) => Promise<T>): Promise<T> {
  let now = 0;
  const alarms = new Set<{ readonly at: number; readonly callback: () => void }>();
  const running = work({
    now: () => now,
    after(ms, callback) {
      const alarm = { at: now + Math.max(0, ms), callback };
      alarms.add(alarm);
      return () => void alarms.delete(alarm);
    },
  });
  let settled = false;
  const settle = () => {
    settled = true;
  };
  running.then(settle, settle);
  for (;;) {
    await new Promise((resolve) => setImmediate(resolve));
    if (settled) return running;
    const next = [...alarms].reduce((first, alarm) => (alarm.at < first.at ? alarm : first), NEVER);
    if (next === NEVER) throw new Error('simulated work waits for something that never happens');
    alarms.delete(next);
    now = next.at;
    next.callback();
  }
}

const NEVER = { at: Number.POSITIVE_INFINITY, callback: () => {} };
