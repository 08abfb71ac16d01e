import type { Bus } from '@eloquentpoll/bus';
import type { FoundPoll } from '@eloquentpoll/storage';
import type { Context } from './context.ts';
import { OVERDUE_MS } from './leases.ts';

// Requeues polls that are overdue or whose lease has lapsed: after a crash between commit and enqueue, after Redis lost
// its data, or when a worker died or hangs. One worker sweeps at a time. `soon` sweeps at once.

const SWEEP_EVERY_MS = 3_000;
/** Pause after a failed sweep. */
const RETRY_MS = 1_000;
/** Minimum pause between two sweeps of a worker. */
const MIN_PAUSE_MS = 300;
/** Added to the end of a lease, so that the sweep sees it as lapsed. */
const LAPSED_MS = 20;
/** The first sweep is soon after the start: if this worker replaces others that died, it may not live long either. */
const FIRST_SWEEP_MS = 500;
const PRUNE_EVERY_MS = 60_000;
/** Expired rows per kind. A prune that deletes this many is repeated at the next sweep. */
const MAX_PRUNED_AT_ONCE = 5_000;
const MAX_AT_ONCE = 500;
/** Time limit of a sweep that continues because the queue has lost its jobs. Well below the life of its lock. */
const MAX_SWEEP_MS = 2_000;

/** Returns how many polls had no worker. Null if another worker is sweeping. */
export async function sweep({ polls, bus, clock }: Pick<Context, 'polls' | 'bus' | 'clock'>): Promise<number | null> {
  let found = 0;
  // Concurrently: one after the other over a slow network, the sweep would outlast its lock.
  const enqueue = async (
    waiting: readonly FoundPoll[],
    optionsOf: (poll: FoundPoll) => Parameters<Bus['enqueuePoll']>[1],
  ): Promise<void> => {
    await Promise.all(
      waiting.map((poll) =>
        bus.enqueuePoll(poll.id, { lane: poll.lane, tenant: poll.tenant ?? undefined, ...optionsOf(poll) }),
      ),
    );
    found += waiting.length;
  };
  const placeOf = fairPlaces();
  const isAlone = await polls.sweepAlone(async () => {
    const until = clock.now() + MAX_SWEEP_MS;
    // A poll that was never claimed may still have its first job in the queue. Round 1 makes this another job, ahead of
    // all others.
    const roundOf = ({ epoch }: FoundPoll) => ({ round: Math.max(1, epoch) });
    await enqueue(await polls.findOverdue(MAX_AT_ONCE, OVERDUE_MS), roundOf);
    for (let skip = 0; ; skip += MAX_AT_ONCE) {
      const lapsed = await polls.findLapsed(MAX_AT_ONCE, skip);
      await enqueue(lapsed, (poll) => ({ round: poll.epoch, ...placeOf(poll) }));
      if (lapsed.length < MAX_AT_ONCE || clock.now() > until) return;
      // Polls in a long queue look lapsed too. If the queue has more jobs than were found here, it is only long.
      const waiting = await Promise.all([bus.queueWaiting('standard'), bus.queueWaiting('flex')]);
      if (waiting[0] + waiting[1] > skip + MAX_AT_ONCE) return;
    }
  });
  return isAlone ? found : null;
}

/** Polls that a worker already had come first. The others get new places, because Redis may have lost the old ones. */
function fairPlaces(): (poll: FoundPoll) => Parameters<Bus['enqueuePoll']>[1] {
  const ranks = new Map<string, number>();
  return ({ epoch, lane, tenant, isAwaited }) => {
    if (epoch > 0) return {};
    const whose = `${lane} ${tenant}`;
    const rank = ranks.get(whose) ?? 0;
    ranks.set(whose, rank + 1);
    return { place: { rank, isAwaited } };
  };
}

type Sweeping = Pick<Context, 'bus' | 'clock' | 'log' | 'polls' | 'random'>;

interface Sweeper {
  /** Sweeps soon, because something that polls may wait for has changed. */
  soon(): void;
  stop(): void;
}

export function keepSweeping(context: Sweeping): Sweeper {
  const { clock, log, polls, random } = context;
  let stopped = false;
  let sweeping = false;
  let prunedAt = Number.NEGATIVE_INFINITY;
  let endedAt = Number.NEGATIVE_INFINITY;
  /** Without jitter, workers that started together would contend for the lock every time. */
  const jittered = (ms: number): number => ms * (0.75 + random() / 2);
  let dueAt = clock.now() + FIRST_SWEEP_MS * random();
  let cancel = clock.after(dueAt - clock.now(), run);

  function runAt(time: number): void {
    cancel();
    dueAt = time;
    if (!stopped) cancel = clock.after(Math.max(0, time - clock.now()), run);
  }

  function run(): void {
    sweeping = true;
    dueAt = Number.POSITIVE_INFINITY;
    void round()
      .catch((error) => {
        log.warn({ err: error }, 'sweep.failed');
        return RETRY_MS;
      })
      .then((pauseMs) => {
        sweeping = false;
        endedAt = clock.now();
        runAt(Math.min(dueAt, endedAt + pauseMs));
      });
  }

  /** Returns how long to wait until the next sweep: until the next lease lapses that is no longer renewed. */
  async function round(): Promise<number> {
    const found = await sweep(context);
    if (found !== null && found > 0) log.info({ found }, 'sweep.polls_requeued');
    const lapseMs = found === null ? null : await polls.nextLapse(SWEEP_EVERY_MS);
    await polls.beat();
    await prune();
    return lapseMs === null ? jittered(SWEEP_EVERY_MS) : Math.max(MIN_PAUSE_MS, lapseMs + LAPSED_MS);
  }

  async function prune(): Promise<void> {
    if (clock.now() - prunedAt < PRUNE_EVERY_MS) return;
    prunedAt = clock.now();
    const pruned = await polls.prune(MAX_PRUNED_AT_ONCE);
    if (pruned >= MAX_PRUNED_AT_ONCE) prunedAt = Number.NEGATIVE_INFINITY;
  }

  return {
    soon() {
      const soonAt = Math.max(clock.now(), endedAt + MIN_PAUSE_MS);
      if (sweeping) dueAt = Math.min(dueAt, soonAt);
      else if (soonAt < dueAt) runAt(soonAt);
    },
    stop() {
      stopped = true;
      cancel();
    },
  };
}
