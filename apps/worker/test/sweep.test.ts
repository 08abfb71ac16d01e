import type { EnqueueOptions } from '@eloquentpoll/bus';
import { virtualClock } from '@eloquentpoll/testkit/virtual-clock';
import t from 'tap';
import type { PollBus, PollStore } from '../src/ports.ts';
import { keepSweeping, sweep } from '../src/sweep.ts';

const never = async (): Promise<never> => {
  throw new Error('not in this test');
};

/** A store with so many polls that no worker holds, oldest first, and a queue that has jobs for the first of them. */
function world({ lapsed, queued }: { lapsed: number; queued: number }) {
  const ids = Array.from({ length: lapsed }, (_, index) => `ps_${index}`);
  const jobs = new Set(ids.slice(0, queued));
  let enqueued = 0;
  const polls: PollStore = {
    async sweepAlone(work) {
      await work();
      return true;
    },
    findLapsed: async (limit, skip) =>
      ids
        .slice(skip, skip + limit)
        .map((id) => ({ id, epoch: 0, tenant: null, isAwaited: false, lane: 'standard' as const })),
    findOverdue: async () => [],
    nextLapse: async () => null,
    claim: never,
    claimOverdue: never,
    spendWaitMs: never,
    renew: never,
    release: never,
    finish: never,
    bury: never,
    trackRecord: never,
    beat: never,
    prune: never,
  };
  const bus: PollBus = {
    async enqueuePoll(id) {
      enqueued += 1;
      jobs.add(id);
    },
    queueCounts: never,
    queueWaiting: async (lane) => (lane === 'standard' ? jobs.size : 0),
    consumePolls: () => {
      throw new Error('not in this test');
    },
    runs: { open: never, vote: never, end: never, takeOver: never },
  };
  return { context: { polls, bus, clock: virtualClock() }, jobs, enqueued: () => enqueued };
}

t.test('after an empty Redis one sweep enqueues all polls that wait', async (t) => {
  const { context, jobs } = world({ lapsed: 2_300, queued: 0 });
  t.equal(await sweep(context), 2_300);
  t.equal(jobs.size, 2_300);
});

t.test('a queue that is only long is not enqueued again from end to end', async (t) => {
  const { context, enqueued } = world({ lapsed: 20_000, queued: 20_000 });
  t.equal(await sweep(context), 500);
  t.equal(enqueued(), 500);
});

t.test('polls that no worker had get their places again, page by page; what one had comes before them', async (t) => {
  const { context } = world({ lapsed: 0, queued: 0 });
  const given = new Map<string, EnqueueOptions | undefined>();
  const page = Array.from({ length: 500 }, (_, n) => ({
    id: `ps_busy_${n}`,
    epoch: 0,
    tenant: 'busy',
    isAwaited: false,
    lane: 'standard' as const,
  }));
  const rest = [
    { id: 'ps_neighbour', epoch: 0, tenant: 'neighbour', isAwaited: true, lane: 'standard' as const },
    { id: 'ps_last', epoch: 0, tenant: 'busy', isAwaited: false, lane: 'standard' as const },
    { id: 'ps_flex', epoch: 0, tenant: 'busy', isAwaited: false, lane: 'flex' as const },
    { id: 'ps_taken', epoch: 3, tenant: 'busy', isAwaited: false, lane: 'flex' as const },
  ];
  context.polls.findLapsed = async (_limit, skip) => (skip === 0 ? page : rest);
  context.polls.findOverdue = async () => [
    { id: 'ps_overdue', epoch: 0, tenant: null, isAwaited: false, lane: 'standard' },
  ];
  context.bus.enqueuePoll = async (id, options) => void given.set(id, options);
  await sweep(context);
  const place = (rank: number, isAwaited = false) => ({ rank, isAwaited });
  const lane = 'standard';
  t.same(given.get('ps_busy_7'), { lane, tenant: 'busy', round: 0, place: place(7) });
  t.same(given.get('ps_neighbour'), { lane, tenant: 'neighbour', round: 0, place: place(0, true) });
  t.same(given.get('ps_last'), { lane, tenant: 'busy', round: 0, place: place(500) });
  t.same(given.get('ps_flex'), { lane: 'flex', tenant: 'busy', round: 0, place: place(0) }, 'ranks are of the lane');
  t.same(given.get('ps_taken'), { lane: 'flex', tenant: 'busy', round: 3 });
  t.same(given.get('ps_overdue'), { lane, tenant: undefined, round: 1 }, 'a job beside the one that waits');
});

t.test('the next sweep comes when the next lease ends, or when something has changed, and not in a rush', async (t) => {
  const clock = virtualClock();
  const { context } = world({ lapsed: 0, queued: 0 });
  const at: number[] = [];
  const done = Promise.withResolvers<void>();
  const lapses = [1_000, null, 10, null];
  const polls: PollStore = {
    ...context.polls,
    async sweepAlone(work) {
      at.push(clock.now());
      if (at.length === 5) done.resolve();
      await work();
      return true;
    },
    nextLapse: async () => lapses[at.length - 1] ?? null,
    beat: async () => {},
    prune: async () => 0,
  };
  const log = { info() {}, warn() {}, error() {} };
  const sweeping = keepSweeping({ ...context, polls, clock, log, random: () => 0.5 });
  clock.after(1_500, () => {
    sweeping.soon();
    sweeping.soon();
  });
  await clock.run(done.promise);
  sweeping.stop();
  // First; the lapse; asked for; a lapse that is near, but not in a rush; three seconds later.
  t.same(at, [250, 1_270, 1_570, 1_870, 4_870]);
});

t.test('a sweep that fails is repeated soon', async (t) => {
  const clock = virtualClock();
  const { context } = world({ lapsed: 0, queued: 0 });
  const at: number[] = [];
  const done = Promise.withResolvers<void>();
  const polls: PollStore = {
    ...context.polls,
    async sweepAlone() {
      at.push(clock.now());
      if (at.length === 3) done.resolve();
      throw new Error('Postgres is away');
    },
  };
  const log = { info() {}, warn() {}, error() {} };
  const sweeping = keepSweeping({ ...context, polls, clock, log, random: () => 0.5 });
  await clock.run(done.promise);
  sweeping.stop();
  t.same(at, [250, 1_250, 2_250]);
});
