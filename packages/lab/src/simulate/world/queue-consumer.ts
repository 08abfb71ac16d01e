import { HELD_MS, STARTS_WITHIN_MS } from '@eloquentpoll/bus';
import type { PollBus } from '@eloquentpoll/worker/ports';
import type { Effects } from './effects.ts';
import type { ModelBus, QueuedJob } from './model-bus.ts';
import type { SimulatedProcess } from './process.ts';

// How a worker gets its polls: it renews the jobs that it has, and takes over jobs of others that were not renewed.
// Delivery is at least once, never exactly once.

/** Less often than in production: each exchange is a point where a process may die, which multiplies the cases. */
const RENEW_EVERY_MS = 4_000;
const LOOK_AGAIN_MS = 5_000;
const AFTER_A_FAULT_MS = 1_000;

export interface QueueSide {
  readonly effects: Effects;
  readonly bus: ModelBus;
  /** Called when a job waits. */
  readonly idle: Set<() => void>;
  /** Called if a poll's run ended with an error: the queue drops the job and logs it. */
  readonly onRunFailed: (pollId: string, error: unknown) => void;
}

export function consumePolls(process: SimulatedProcess, side: QueueSide): PollBus['consumePolls'] {
  const { effects, bus, idle } = side;
  const { clock } = process;
  const perform = <T>(what: string, pollId: string | null, effect: () => T) =>
    effects.perform(process, 'bus', what, pollId, effect);

  return ({ concurrency, run }) => {
    const running = new Map<QueuedJob, AbortController>();
    const emptied = new Set<() => void>();
    let draining = false;
    let paused = false;
    let taking = false;
    let again = false;

    async function take(): Promise<void> {
      again = true;
      if (taking) return;
      taking = true;
      try {
        while (again && !draining && !paused && running.size < concurrency) {
          again = false;
          const job = await perform('take a job', null, () => {
            bus.bringBackLate();
            return bus.take(STARTS_WITHIN_MS);
          });
          if (!job) continue;
          again = true;
          void work(job);
        }
      } catch {
        clock.after(AFTER_A_FAULT_MS, look);
      } finally {
        taking = false;
      }
    }
    const look = () => void take();

    async function work(job: QueuedJob): Promise<void> {
      const abort = new AbortController();
      running.set(job, abort);
      let stop = clock.after(RENEW_EVERY_MS, renew);
      function renew(): void {
        perform('renew a job', job.pollId, () => bus.renew(job.id, HELD_MS)).catch(() => {});
        stop = clock.after(RENEW_EVERY_MS, renew);
      }
      await run(job.pollId, abort.signal).catch((error) => side.onRunFailed(job.pollId, error));
      stop();
      running.delete(job);
      if (running.size === 0) for (const resolve of emptied) resolve();
      look();
      await perform('job done', job.pollId, () => bus.done(job.id)).catch(() => {});
    }

    function beat(ms: number, callback: () => void): void {
      clock.after(ms, () => {
        if (draining) return;
        callback();
        beat(ms, callback);
      });
    }

    const wake = () => process.deliver(look);
    idle.add(wake);
    look();
    beat(LOOK_AGAIN_MS, look);
    return {
      ready: () => Promise.resolve(),
      pause() {
        paused = true;
      },
      resume() {
        paused = false;
        look();
      },
      limit() {},
      async drain(withinMs) {
        draining = true;
        idle.delete(wake);
        const drained = (ms: number) =>
          new Promise<void>((resolve) => {
            if (running.size === 0) return resolve();
            emptied.add(resolve);
            clock.after(ms, resolve);
          });
        await drained(withinMs);
        for (const abort of running.values()) abort.abort(new Error('shutdown'));
        await drained(1_000);
      },
    };
  };
}
