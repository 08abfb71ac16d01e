import { LEASE_MS } from '@eloquentpoll/storage';
import { unanswered } from '@eloquentpoll/worker/collect-votes';
import type { Context } from '@eloquentpoll/worker/context';
import t from 'tap';
import { exhaustCrashPoints } from '../src/simulate/crash-points.ts';
import { drawPlay } from '../src/simulate/draw-play.ts';
import { violations } from '../src/simulate/rule.ts';
import { WORLD_RULES } from '../src/simulate/world/judge-world.ts';
import { playWorld } from '../src/simulate/world/play-world.ts';
import type { Tampering } from '../src/simulate/world/worker.ts';

// slow: 7 s

// The judge of the simulated world is judged: a bug is planted behind a port or in the store, and the rule that it
// breaks must see it, either at a crash point or in bad weather.

interface Planted {
  readonly bug: string;
  readonly seenBy: string;
  readonly tamper: Tampering;
}

const withRuns = (context: Context, runs: Partial<Context['bus']['runs']>): Context => ({
  ...context,
  bus: { ...context.bus, runs: { ...context.bus.runs, ...runs } },
});

const PLANTED: Planted[] = [
  {
    bug: 'the store does not compare epochs',
    seenBy: 'a write under an old epoch changes nothing',
    tamper(context, { store }) {
      const { finish } = store;
      store.finish = (poll) => finish({ ...poll, epoch: store.polls.get(poll.id)?.leaseEpoch ?? poll.epoch });
      return context;
    },
  },
  {
    bug: 'a worker that takes over does not read the log',
    seenBy: 'no model is asked for a vote that is in the log, or in a poll that has ended',
    tamper: (context) =>
      withRuns(context, {
        takeOver: async (id, epoch) => (await context.bus.runs.takeOver(id, epoch)) && [],
      }),
  },
  {
    bug: 'a worker that takes over restores the votes for another option',
    seenBy: 'every stored vote is one that its model answered',
    tamper: (context) =>
      withRuns(context, {
        takeOver: async (id, epoch) =>
          (await context.bus.runs.takeOver(id, epoch))?.map((vote) =>
            vote.option === null ? vote : { ...vote, option: vote.option === 0 ? 1 : 0 },
          ) ?? null,
      }),
  },
  {
    bug: 'a worker that takes over restores all votes but the last, and does not ask for it',
    seenBy: 'a vote that is logged is in the result, where Redis was there all the time',
    tamper(context, { store }) {
      const lost = new Set<string>();
      return {
        ...withRuns(context, {
          async takeOver(id, epoch) {
            const votes = await context.bus.runs.takeOver(id, epoch);
            const last = votes?.at(-1);
            if (last) lost.add(`${id} ${last.seat}`);
            return votes?.slice(0, -1) ?? null;
          },
        }),
        ask: async (request, options) =>
          lost.has(`${request.pollId} ${request.seat}`)
            ? unanswered(store.polls.get(request.pollId)!.acceptance.poll.spec, request.seat, 'timeout', 0)
            : context.ask(request, options),
      };
    },
  },
  {
    bug: 'the stored result names another winner than its votes make',
    seenBy: 'what is stored of an election follows from its votes',
    tamper(context, { store }) {
      const { finish } = store;
      store.finish = (poll) => {
        const { options, winning_option } = poll.response;
        const other = options.find((option) => option !== winning_option) ?? null;
        return finish({ ...poll, response: { ...poll.response, winning_option: other } });
      };
      return context;
    },
  },
  {
    // Either alone is made good by the other.
    bug: 'neither the renewal of its lease nor the run record says that a poll belongs to another worker',
    seenBy: 'no model is asked for a vote that is in the log, or in a poll that has ended',
    tamper(context, { store }) {
      store.renew = (_worker, leases) => leases.map(({ id }) => ({ id, isCanceled: false, leftMs: LEASE_MS }));
      return withRuns(context, {
        open: async (...args) => (await context.bus.runs.open(...args)) || true,
        vote: async (...args) => (await context.bus.runs.vote(...args)) || true,
      });
    },
  },
  {
    bug: 'a paused worker does not ask whether its lease is still its own',
    seenBy: 'no model is asked for a vote that is in the log, or in a poll that has ended',
    tamper: (context) => ({
      ...context,
      leases: {
        ...context.leases,
        hold: (id, epoch, since) =>
          Object.assign(context.leases.hold(id, epoch, since), { ensureFresh: () => Promise.resolve() }),
      },
    }),
  },
  {
    bug: 'the hold is captured before the result is stored',
    seenBy: 'every accepted poll ends in time once nothing goes wrong any more',
    tamper(context, { store, bus }) {
      const { finish } = store;
      store.finish = (poll) => {
        const captured = store.books.transfers.some((each) => each.kind === 'post' && each.pollId === poll.id);
        if (!captured && bus.jobs() > 1) {
          store.books.resolve(poll.id, 1n);
          throw new Error('the connection was lost between the two');
        }
        return finish(poll);
      };
      return context;
    },
  },
  {
    bug: 'the end is published before it is stored',
    seenBy: 'the end is published once at most, as it is stored, and not before',
    tamper: (context, { bus }) => ({
      ...context,
      polls: {
        ...context.polls,
        finish(poll) {
          const snapshot = bus.read(poll.id)?.snapshot;
          if (snapshot) bus.end(poll.id, poll.epoch, '', { ...snapshot, seq: snapshot.seq + 1, status: 'completed' });
          return context.polls.finish(poll);
        },
      },
    }),
  },
  {
    bug: 'the end is published twice',
    seenBy: 'the end is published once at most, as it is stored, and not before',
    tamper: (context) =>
      withRuns(context, {
        end: async (...args) => (await context.bus.runs.end(...args)) && context.bus.runs.end(...args),
      }),
  },
  {
    bug: 'the end is not published',
    seenBy: 'the end is published where no fault prevents it',
    tamper: (context) => withRuns(context, { end: async () => true }),
  },
  {
    bug: 'the first run of each poll fails on a mistake in the code, and the next one makes up for it',
    seenBy: 'a run of a poll fails only because something that it needs is away',
    tamper: (context) => ({
      ...context,
      leases: {
        ...context.leases,
        hold(id, epoch, since) {
          if (epoch === 1) throw new TypeError('undefined is not a lease');
          return context.leases.hold(id, epoch, since);
        },
        get size() {
          return context.leases.size;
        },
      },
    }),
  },
  {
    bug: 'lost polls are not looked for',
    seenBy: 'every accepted poll ends in time once nothing goes wrong any more',
    tamper: (context) => ({ ...context, polls: { ...context.polls, sweepAlone: async () => false } }),
  },
  {
    bug: 'a hold is taken from an account that cannot cover it',
    seenBy: 'the books balance, and every ended poll has settled its one hold',
    tamper(context, { store }) {
      const { accept } = store;
      store.accept = (acceptance) => {
        const [balance] = store.books.balances.values();
        balance!.postedU += 10n ** 15n;
        const accepted = accept(acceptance);
        balance!.postedU -= 10n ** 15n;
        return accepted;
      };
      return context;
    },
  },
  {
    bug: 'a retry under the same key makes another poll',
    seenBy: 'one poll for one key, and every id that was answered has its poll',
    tamper(context, { store }) {
      const { accept } = store;
      store.accept = ({ idempotency, ...rest }) => {
        const accepted = accept(rest);
        const row = store.polls.get(rest.poll.id);
        if (row) Object.assign(row, { acceptance: { ...rest, idempotency } });
        return accepted;
      };
      return context;
    },
  },
  {
    bug: 'a vote is billed twice',
    seenBy: 'a seat is billed once at most, for a vote that was asked for',
    tamper(context, { store }) {
      const { finish } = store;
      store.finish = (poll) => {
        const ended = finish(poll);
        const row = store.polls.get(poll.id);
        if (row && ended.outcome === 'stored') row.votes = [...poll.votes, ...poll.votes.slice(0, 1)];
        return ended;
      };
      return context;
    },
  },
  {
    bug: 'a worker keeps its lease when the poll has ended',
    seenBy: 'nothing is left of polls that ended: no job, lease or call',
    tamper: (context) => ({
      ...context,
      leases: {
        ...context.leases,
        hold: (id, epoch, since) => Object.assign(context.leases.hold(id, epoch, since), { [Symbol.dispose]() {} }),
        get size() {
          return context.leases.size;
        },
      },
    }),
  },
];

const MAX_WORLDS = 400;

/** What saw it first; null when nothing did. */
async function seen({ tamper, seenBy }: Planted): Promise<string | null> {
  const sample = () => false;
  const points = await exhaustCrashPoints({ course: 'all three are heard', sample, tamper, untilRule: seenBy });
  const point = points.violations.find((violation) => violation.rule === seenBy);
  if (point) return point.where;
  for (let n = 0; n < MAX_WORLDS; n++) {
    const where = `planted/${n}`;
    const played = await playWorld({ ...drawPlay(where), tamper });
    if (violations(where, WORLD_RULES, played).some(({ rule }) => rule === seenBy)) return `world ${where}`;
  }
  return null;
}

for (const planted of PLANTED)
  t.test(`seen: ${planted.bug}`, async (t) => {
    t.ok(WORLD_RULES.some((rule) => rule.name === planted.seenBy));
    const by = await seen(planted);
    t.ok(by, by ?? 'nothing saw it');
  });
