import type { PollConsumer } from '@eloquentpoll/bus';
import { type BusyLoop, busyLoop } from './busy-loop.ts';
import type { Context } from './context.ts';

// Flex polls are never run in front of others: while a standard poll waits for a worker, or this process is busy with
// those that it runs, no flex poll is taken. Those under way go on.

const LOOK_EVERY_MS = 200;
/** Of the event loop's time. Above it, a standard poll that runs here would be slowed down by one flex poll more. */
const MAX_BUSY_SHARE = 0.6;

export interface Yielding {
  readonly isPaused: boolean;
  /** Resolves when it does not yield: a consumer that is paused may still take what it was waiting for. */
  turn(): Promise<void>;
  stop(): void;
}

interface Sides {
  consumer: Pick<PollConsumer, 'pause' | 'resume'>;
  /** How many standard polls run here. */
  standardRunning(): number;
  loop?: BusyLoop;
}

export function yieldToStandard(
  { bus, clock, log }: Pick<Context, 'clock' | 'log'> & { bus: Pick<Context['bus'], 'queueWaiting'> },
  { consumer, standardRunning, loop = busyLoop() }: Sides,
): Yielding {
  let isPaused = false;
  let stopped = false;
  const waiting = new Set<() => void>();
  let cancel = clock.after(LOOK_EVERY_MS, look);

  function look(): void {
    void shouldPause()
      .then((should) => {
        if (stopped || should === isPaused) return;
        isPaused = should;
        if (should) consumer.pause();
        else goOn();
      })
      .catch((err) => log.warn({ err }, 'flex.look_failed'))
      .finally(() => {
        if (!stopped) cancel = clock.after(LOOK_EVERY_MS, look);
      });
  }

  function goOn(): void {
    consumer.resume();
    for (const resolve of waiting) resolve();
    waiting.clear();
  }

  async function shouldPause(): Promise<boolean> {
    const share = loop.busyShare();
    if (standardRunning() > 0 && share > MAX_BUSY_SHARE) return true;
    return (await bus.queueWaiting('standard')) > 0;
  }

  return {
    get isPaused() {
      return isPaused;
    },
    turn: () => (isPaused && !stopped ? new Promise((resolve) => void waiting.add(resolve)) : Promise.resolve()),
    stop() {
      stopped = true;
      cancel();
      for (const resolve of waiting) resolve();
    },
  };
}
