import type { PollConsumer } from '@eloquentpoll/bus';
import { type BusyLoop, busyLoop } from './busy-loop.ts';
import type { Context } from './context.ts';

// Flex polls never delay standard ones. While a standard poll waits for a worker, no flex poll is taken. While standard
// polls run here, the number of flex polls is halved whenever the process is strained, and raised slowly otherwise.

const LOOK_EVERY_MS = 200;
/** Wait after the last standard poll: the same person may ask again. */
const QUIET_AFTER_MS = 2_000;
const STEPS_TO_ALL = 20;

export interface Yielding {
  /** How many flex polls may run here. */
  readonly allowed: number;
  /** Resolves once flex polls are allowed. A paused consumer may still receive the job that it was waiting for. */
  turn(): Promise<void>;
  stop(): void;
}

interface Sides {
  consumer: Pick<PollConsumer, 'pause' | 'resume' | 'limit'>;
  /** The maximum number of flex polls. */
  most: number;
  /** How many standard polls run here. */
  standardRunning(): number;
  loop?: BusyLoop;
}

export function yieldToStandard(
  { bus, clock, log }: Pick<Context, 'clock' | 'log'> & { bus: Pick<Context['bus'], 'queueWaiting'> },
  { consumer, most, standardRunning, loop = busyLoop() }: Sides,
): Yielding {
  let allowed = most;
  let standardAt = Number.NEGATIVE_INFINITY;
  let stopped = false;
  const waiting = new Set<() => void>();
  let cancel = clock.after(LOOK_EVERY_MS, look);

  function look(): void {
    void bus
      .queueWaiting('standard')
      .then((inFront) => stopped || allow(inFront > 0 ? 0 : allowedNow()))
      .catch((err) => log.warn({ err }, 'flex.look_failed'))
      .finally(() => {
        if (!stopped) cancel = clock.after(LOOK_EVERY_MS, look);
      });
  }

  function allowedNow(): number {
    const isStrained = loop.isStrained();
    if (standardRunning() > 0) standardAt = clock.now();
    if (clock.now() - standardAt > QUIET_AFTER_MS) return most;
    // At least one, or a person who asks all day would stop all flex polls.
    return isStrained ? Math.max(1, Math.floor(allowed / 2)) : Math.min(most, allowed + Math.ceil(most / STEPS_TO_ALL));
  }

  function allow(next: number): void {
    const before = allowed;
    allowed = next;
    if (next === before) return;
    if (next === 0) {
      consumer.pause();
      return;
    }
    consumer.limit(next);
    if (before > 0) return;
    consumer.resume();
    for (const resolve of waiting) resolve();
    waiting.clear();
  }

  return {
    get allowed() {
      return allowed;
    },
    turn: () => (allowed > 0 || stopped ? Promise.resolve() : new Promise((resolve) => void waiting.add(resolve))),
    stop() {
      stopped = true;
      cancel();
      loop.stop();
      for (const resolve of waiting) resolve();
    },
  };
}
