import type { Vote } from '@eloquentpoll/contracts';
import { seed as number } from '@eloquentpoll/testkit/seed';
import { virtualClock } from '@eloquentpoll/testkit/virtual-clock';
import t from 'tap';
import { ENDS, playEachSeed, REPEATS, type SeedFigures } from '../src/simulate/each-seed.ts';
import { POLL_RULES } from '../src/simulate/judge-poll.ts';
import { playPoll, type Trace } from '../src/simulate/play-poll.ts';
import { drawScenario } from '../src/simulate/scenario.ts';
import { simulatePolls } from '../src/simulate/simulate-polls.ts';

const seed = String(number);

t.test(`[§A6-billed-votes-only] 2,000 random polls keep every promise (TEST_SEED=${seed})`, async (t) => {
  const simulation = await simulatePolls(seed, 2_000);
  t.same(simulation.violations, []);
  for (const [reason, count] of Object.entries(simulation.reasons)) t.ok(count > 0, `some end by ${reason}`);
  for (const [status, count] of Object.entries(simulation.statuses)) t.ok(count > 0, `some are ${status}`);
  t.ok(simulation.deaths > 0, 'workers die');
  t.ok(simulation.spentToTheLimit > 0, 'budgets are spent to the last unit');
});

t.test('the same seed plays the same polls', async (t) => {
  const [one, two] = [await simulatePolls(seed, 50), await simulatePolls(seed, 50)];
  t.same({ ...two, tookMs: 0 }, { ...one, tookMs: 0 });
});

t.test('a play that never ends, and one that does not repeat, are violations of its seed', async (t) => {
  const figures: SeedFigures = { replayed: 0, violations: [] };
  const stuck = new Promise<number>(() => {});
  let plays = 0;
  const simulation = { rules: [], replayKey: String, count: () => {} };
  await playEachSeed({ ...simulation, play: () => virtualClock().run(stuck) }, figures, { seed: 'stuck', plays: 1 });
  await playEachSeed({ ...simulation, play: async () => ++plays }, figures, { seed: 'other', plays: 1 });
  t.same(
    figures.violations.map(({ where, rule }) => [where, rule]),
    [
      ['stuck/0', ENDS],
      ['other/0', REPEATS],
    ],
  );
});

// The judge is judged, too: a poll that kept every promise, and one lie for each rule.

/** With at least one vote that was paid and one model that was not asked. */
async function honest(): Promise<Trace> {
  for (let n = 0; ; n++) {
    const trace = await playPoll(drawScenario(`judge/${n}`));
    const paid = trace.collected.votes.filter((vote) => vote.billed_u > 10).length;
    if (paid > 2 && trace.collected.reason === 'confidence' && trace.lives === 1) return trace;
  }
}

/** With as many votes, for other options than were counted. */
const exchanged = (votes: readonly Vote[]): Vote[] =>
  votes.map((vote) => (vote.option === null ? vote : { ...vote, option: vote.option === 0 ? 1 : 0 }));

const LIES: [string, (trace: Trace) => Partial<Trace>][] = [
  [
    'captured <= hold <= max cost',
    ({ scenario }) => ({ scenario: { ...scenario, spec: { ...scenario.spec, max_cost_u: 1 } } }),
  ],
  [
    'billed and reserved money never exceeds the max cost, at no call',
    ({ asked, scenario }) => ({ asked: asked.map((call) => ({ ...call, exposedU: scenario.spec.max_cost_u + 1 })) }),
  ],
  [
    'only votes are billed, each at most its reserve',
    ({ collected }) => ({
      collected: { ...collected, votes: collected.votes.map((vote) => ({ ...vote, billed_u: 1e12 })) },
    }),
  ],
  ['ends by its deadline', ({ scenario }) => ({ endedAt: scenario.deadlineMs + 1 })],
  ['counts add up', ({ collected }) => ({ collected: { ...collected, votes: collected.votes.slice(1) } })],
  ['the response says the same', ({ collected }) => ({ collected: { ...collected, votes: collected.votes.slice(1) } })],
  ['a seat has one vote and is asked once by a worker', ({ asked }) => ({ asked: [...asked, asked[0]!] })],
  [
    'a vote that is logged is not asked for again, and is in the result',
    ({ asked }) => ({ asked: asked.map((call) => ({ ...call, logged: true })) }),
  ],
  [
    'a vote that is logged is not asked for again, and is in the result',
    ({ logged }) => ({ logged: logged.map((vote) => ({ ...vote, option: (vote.option ?? 0) + 1 })) }),
  ],
  [
    'every vote is the one that its model answers',
    ({ collected }) => ({
      collected: {
        ...collected,
        votes: collected.votes.map((vote) => (vote.option === null ? vote : { ...vote, option: vote.option + 1 })),
      },
    }),
  ],
  [
    'the response says the same',
    ({ collected }) => ({ collected: { ...collected, votes: exchanged(collected.votes) } }),
  ],
  ['it stops for the reason that it gives', ({ collected }) => ({ collected: { ...collected, reason: 'budget' } })],
  ['leaves no call and no timer behind', () => ({ timersLeft: 1 })],
];

for (const [rule, lie] of LIES)
  t.test(`the judge sees when this does not hold: ${rule}`, async (t) => {
    const trace = await honest();
    const broken = (judged: Trace) => POLL_RULES.filter((one) => one.broken(judged) !== null).map((one) => one.name);
    t.same(broken(trace), []);
    t.ok(broken({ ...trace, ...lie(trace) }).includes(rule));
  });
