import { findLapsed, prune, withSweepLock } from '@eloquentpoll/storage';
import type { Context } from './context.ts';

// Whatever was lost between Postgres and Redis (a crash between commit and enqueue, a flushed Redis, a dead worker, a
// poll past its deadline) is found here: a running poll that nobody holds gets a job again. One worker at a time.

const SWEEP_EVERY_MS = 3_000;
const PRUNE_EVERY_MS = 60_000;
const MOST_AT_ONCE = 500;

export async function sweep(context: Context): Promise<number> {
  const { storage, bus } = context;
  const lapsed = await withSweepLock(storage, (locked) => findLapsed(locked, MOST_AT_ONCE));
  for (const { pollId, epoch } of lapsed ?? []) await bus.enqueuePoll(pollId, epoch);
  return lapsed?.length ?? 0;
}

export function keepSweeping(context: Context): { stop(): void } {
  const { clock, log } = context;
  let stopped = false;
  let prunedAt = Number.NEGATIVE_INFINITY;
  let cancel = clock.after(jittered(), run);

  function run(): void {
    void round()
      .catch((error) => log.warn({ err: error }, 'sweep failed'))
      .finally(() => {
        if (!stopped) cancel = clock.after(jittered(), run);
      });
  }

  async function round(): Promise<void> {
    const found = await sweep(context);
    if (found > 0) log.info({ found }, 'polls without a worker enqueued again');
    if (clock.now() - prunedAt < PRUNE_EVERY_MS) return;
    prunedAt = clock.now();
    await prune(context.storage);
  }

  return {
    stop() {
      stopped = true;
      cancel();
    },
  };
}

/** Workers that started together would otherwise all come to the lock together. */
const jittered = (): number => SWEEP_EVERY_MS * (0.75 + Math.random() / 2);
