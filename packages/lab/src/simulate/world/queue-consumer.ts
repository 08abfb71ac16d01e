import { JOB_LOCK_MS } from '@eloquentpoll/bus';
import type { PollBus } from '@eloquentpoll/worker/ports';
import type { Effects } from './effects.ts';
import type { ModelBus, QueuedJob } from './model-bus.ts';
import type { SimulatedProcess } from './process.ts';

// How a worker gets its polls: jobs under locks that it renews, jobs of others whose lock ran out, an abort when its own
// lock is lost. At least once, never exactly once.

const STALLED_CHECK_MS = 5_000;
const LOOK_AGAIN_MS = 5_000;
const AFTER_A_FAULT_MS = 1_000;

export interface QueueSide {
  readonly effects: Effects;
  readonly bus: ModelBus;
  /** Calls back whenever a job waits. */
  readonly idle: Set<() => void>;
  /** A poll's run ended by an error: the queue drops the job and says so. */
  readonly onRunFailed: (pollId: string, error: unknown) => void;
}

export function consumePolls(process: SimulatedProcess, side: QueueSide): PollBus['consumePolls'] {
  const { effects, bus, idle } = side;
  const { clock } = process;
  const perform = <T>(what: string, pollId: string | null, effect: () => T) =>
    effects.perform(process, 'bus', what, pollId, effect);

  return ({ concurrency, run }) => {
    const running = new Map<string, AbortController>();
    const emptied = new Set<() => void>();
    let taken = 0;
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
          const token = `${process.name}/${++taken}`;
          const job = await perform('take a job', null, () => bus.take(token, JOB_LOCK_MS));
          if (!job) continue;
          again = true;
          void work(job, token);
        }
      } catch {
        clock.after(AFTER_A_FAULT_MS, look);
      } finally {
        taking = false;
      }
    }
    const look = () => void take();

    async function work(job: QueuedJob, token: string): Promise<void> {
      const abort = new AbortController();
      running.set(token, abort);
      let stop = clock.after(JOB_LOCK_MS / 2, extend);
      function extend(): void {
        perform('renew the lock of a job', job.pollId, () => bus.extend(job.id, token, JOB_LOCK_MS)).then(
          (ours) => ours || abort.abort(new Error('lock lost')),
          () => {},
        );
        stop = clock.after(JOB_LOCK_MS / 2, extend);
      }
      await run(job.pollId, abort.signal).catch((error) => side.onRunFailed(job.pollId, error));
      stop();
      running.delete(token);
      if (running.size === 0) for (const resolve of emptied) resolve();
      look();
      await perform('job done', job.pollId, () => bus.done(job.id, token)).catch(() => {});
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
    beat(STALLED_CHECK_MS, () => {
      perform('look for stalled jobs', null, () => bus.bringBackStalled()).catch(() => {});
    });
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
