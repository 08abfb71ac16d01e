import type { Bus } from '@eloquentpoll/bus';
import type { FoundPoll } from '@eloquentpoll/storage';
import type { Context } from './context.ts';
import { OVERDUE_MS } from './leases.ts';

// Enqueues running polls again whose lease lapsed or that are overdue: after a crash between commit and enqueue, a flushed
// Redis, a worker that died or hangs. One worker at a time, and at once when something has changed that polls wait for.

const SWEEP_EVERY_MS = 3_000;
/** After one that failed. */
const RETRY_MS = 1_000;
/** However much changes, between two sweeps of a worker. */
const MIN_PAUSE_MS = 300;
/** After the end of a lease, so that it is seen as over. */
const LAPSED_MS = 20;
/** Soon after the start: a worker that was started because others died may not live long itself. */
const FIRST_SWEEP_MS = 500;
const PRUNE_EVERY_MS = 60_000;
/** Expired rows of each kind; a prune that deletes this many is repeated at the next sweep. */
const MAX_PRUNED_AT_ONCE = 5_000;
const MAX_AT_ONCE = 500;
/** A sweep that goes on because the queue lost its jobs ends well before its lock does. */
const MAX_SWEEP_MS = 2_000;

/** Returns how many polls were found without a worker; null while another worker sweeps. */
export async function sweep({ polls, bus, clock }: Pick<Context, 'polls' | 'bus' | 'clock'>): Promise<number | null> {
  let found = 0;
  // All at once: one after the other over a slow network, the sweep would outlast its lock.
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
    // The job of one that was never claimed may not be its turn yet: this is another one, before all others.
    const roundOf = ({ epoch }: FoundPoll) => ({ round: Math.max(1, epoch) });
    await enqueue(await polls.findOverdue(MAX_AT_ONCE, OVERDUE_MS), roundOf);
    for (let skip = 0; ; skip += MAX_AT_ONCE) {
      const lapsed = await polls.findLapsed(MAX_AT_ONCE, skip);
      await enqueue(lapsed, (poll) => ({ round: poll.epoch, ...placeOf(poll) }));
      if (lapsed.length < MAX_AT_ONCE || clock.now() > until) return;
      // Polls in a long queue look lapsed too. More jobs than were found here: it is only long.
      const waiting = await Promise.all([bus.queueWaiting('standard'), bus.queueWaiting('flex')]);
      if (waiting[0] + waiting[1] > skip + MAX_AT_ONCE) return;
    }
  });
  return isAlone ? found : null;
}

/** What a worker had comes before all others. The rest get their places again, which a Redis that came back empty lost. */
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
  /** Something has changed that polls may have waited for. */
  soon(): void;
  stop(): void;
}

export function keepSweeping(context: Sweeping): Sweeper {
  const { clock, log, polls, random } = context;
  let stopped = false;
  let sweeping = false;
  let prunedAt = Number.NEGATIVE_INFINITY;
  let endedAt = Number.NEGATIVE_INFINITY;
  /** Workers that started together would otherwise contend for the lock each time. */
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

  /** Returns how long to wait for the next one: until the next lease of a worker that renews it no more. */
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
