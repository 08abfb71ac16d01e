import type { Context } from './context.ts';
import { OVERDUE_MS } from './leases.ts';

// Whatever was lost between Postgres and Redis (a crash between commit and enqueue, a flushed Redis, a dead worker, a
// hanging one) is found here: a running poll that nobody holds, or that outlived its deadline, gets a job again. One
// worker at a time.

const SWEEP_EVERY_MS = 3_000;
/** A worker may be there because others died, and may not live long itself: it looks at once. */
const FIRST_SWEEP_MS = 500;
const PRUNE_EVERY_MS = 60_000;
/** Of what is over, as many rows at a time. Whoever finds that many looks again at the next sweep, until there is less. */
const PRUNED_AT_ONCE = 5_000;
const MOST_AT_ONCE = 500;

/** Returns how many polls were found without a worker. */
export async function sweep({ polls, bus }: Pick<Context, 'polls' | 'bus'>): Promise<number> {
  let found = 0;
  await polls.sweepAlone(async () => {
    const lapsed = await polls.findLapsed(MOST_AT_ONCE);
    const overdue = await polls.findOverdue(MOST_AT_ONCE, OVERDUE_MS);
    // All at once: one after the other, a slow way to Redis would outlast the patience that others have with a sweep.
    await Promise.all([...lapsed, ...overdue].map(({ id, epoch }) => bus.enqueuePoll(id, epoch)));
    found = lapsed.length + overdue.length;
  });
  return found;
}

type Sweeping = Pick<Context, 'bus' | 'clock' | 'log' | 'polls' | 'random'>;

export function keepSweeping(context: Sweeping): { stop(): void } {
  const { clock, log, polls, random } = context;
  let stopped = false;
  let prunedAt = Number.NEGATIVE_INFINITY;
  /** Workers that started together would otherwise all come to the lock together. */
  const jittered = (): number => SWEEP_EVERY_MS * (0.75 + random() / 2);
  let cancel = clock.after(FIRST_SWEEP_MS * random(), run);

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
    await polls.beat();
    if (clock.now() - prunedAt < PRUNE_EVERY_MS) return;
    prunedAt = clock.now();
    const pruned = await polls.prune(PRUNED_AT_ONCE);
    if (pruned >= PRUNED_AT_ONCE) prunedAt = Number.NEGATIVE_INFINITY;
  }

  return {
    stop() {
      stopped = true;
      cancel();
    },
  };
}
