import type { ReadinessCheck } from '@eloquentpoll/ops';

// Fails if jobs wait and this worker has free slots but takes none, or if all its slots are taken and no job ends. A
// connection that answers pings but delivers nothing passes every other check.

/** A worker with a free slot should have taken a job that has waited this long. */
const WAITED_MS = 30_000;
const TAKES_NOTHING_MS = 60_000;
/** No poll takes longer than its deadline plus the time until it counts as overdue. */
const ENDS_NOTHING_MS = 150_000;

export interface JobActivity {
  /** A job was taken from the queue. */
  began(): void;
  ended(): void;
  readonly running: number;
  /** Monotonic. */
  readonly tookAt: number;
  readonly endedAt: number;
}

export interface LivenessLimits {
  waitedMs: number;
  takesNothingMs: number;
  endsNothingMs: number;
}

export interface LivenessOptions {
  slots: number;
  /** When the oldest waiting job was enqueued, by the system clock. Null if none waits. */
  oldestAt(): Promise<number | null>;
  /** Monotonic. */
  now?(): number;
  wallNow?(): number;
  limits?: LivenessLimits;
}

export function jobActivity(now: () => number = () => performance.now()): JobActivity {
  let running = 0;
  let tookAt = now();
  let endedAt = now();
  return {
    began() {
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

export function livenessCheck(activity: JobActivity, options: LivenessOptions): ReadinessCheck {
  const { slots, oldestAt, now = () => performance.now(), wallNow = Date.now } = options;
  const { waitedMs, takesNothingMs, endsNothingMs } = options.limits ?? {
    waitedMs: WAITED_MS,
    takesNothingMs: TAKES_NOTHING_MS,
    endsNothingMs: ENDS_NOTHING_MS,
  };
  return {
    vital: true,
    async ask() {
      if (activity.running >= slots) {
        const stuckMs = now() - activity.endedAt;
        return stuckMs > endsNothingMs
          ? `all ${slots} slots are taken and no poll ended for ${seconds(stuckMs)}`
          : null;
      }
      const idleMs = now() - activity.tookAt;
      if (idleMs <= takesNothingMs) return null;
      const oldest = await oldestAt();
      const waits = oldest === null ? 0 : wallNow() - oldest;
      if (waits <= waitedMs) return null;
      return `a job waits for ${seconds(waits)}, ${slots - activity.running} slots are free, and none was taken for ${seconds(idleMs)}`;
    },
  };
}

const seconds = (ms: number): string => `${Math.round(ms / 1_000)} s`;
