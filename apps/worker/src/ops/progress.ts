import type { Check } from '@eloquentpoll/ops';

// Whether this worker gets anywhere. A connection that answers pings and takes no jobs, or jobs that never end, look
// healthy to every other check. So: while jobs wait that this worker has room for, it takes some; and while all its room
// is taken, jobs end. An idle service proves nothing and is fine.

/** A job that waits this long should have been taken by whoever has room. */
const WAITED_MS = 30_000;
const TAKES_NOTHING_MS = 60_000;
/** No poll lives longer than its deadline and the time in which others take it away. */
const ENDS_NOTHING_MS = 150_000;

export interface Progress {
  /** A job was taken from the queue. */
  began(): void;
  ended(): void;
  readonly running: number;
}

export interface ProgressLimits {
  waitedMs: number;
  takesNothingMs: number;
  endsNothingMs: number;
}

export interface Watching {
  slots: number;
  /** When the oldest waiting job came, by the clock of the wall; null when none waits. */
  oldestAt(): Promise<number | null>;
  /** Monotonic. */
  now?(): number;
  wallNow?(): number;
  limits?: ProgressLimits;
}

export function countProgress(now: () => number = () => performance.now()) {
  let running = 0;
  let tookAt = now();
  let endedAt = now();
  return {
    began() {
      // What is measured from here on is a worker with something to do.
      if (running === 0) endedAt = now();
      running += 1;
      tookAt = now();
    },
    ended() {
      running -= 1;
      endedAt = now();
    },
    get running() {
      return running;
    },
    get tookAt() {
      return tookAt;
    },
    get endedAt() {
      return endedAt;
    },
  };
}

export function progressCheck(progress: ReturnType<typeof countProgress>, watching: Watching): Check {
  const { slots, oldestAt, now = () => performance.now(), wallNow = Date.now } = watching;
  const { waitedMs, takesNothingMs, endsNothingMs } = watching.limits ?? {
    waitedMs: WAITED_MS,
    takesNothingMs: TAKES_NOTHING_MS,
    endsNothingMs: ENDS_NOTHING_MS,
  };
  return {
    vital: true,
    async ask() {
      if (progress.running >= slots) {
        const stuckMs = now() - progress.endedAt;
        return stuckMs > endsNothingMs
          ? `all ${slots} slots are taken and no poll ended for ${seconds(stuckMs)}`
          : null;
      }
      const idleMs = now() - progress.tookAt;
      if (idleMs <= takesNothingMs) return null;
      const oldest = await oldestAt();
      const waits = oldest === null ? 0 : wallNow() - oldest;
      if (waits <= waitedMs) return null;
      return `a job waits for ${seconds(waits)}, ${slots - progress.running} slots are free, and none was taken for ${seconds(idleMs)}`;
    },
  };
}

const seconds = (ms: number): string => `${Math.round(ms / 1_000)} s`;
