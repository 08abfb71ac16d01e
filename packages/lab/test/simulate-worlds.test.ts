import { seed as number } from '@eloquentpoll/testkit/seed';
import t from 'tap';
import { COURSES, type Course, exhaustCrashPoints, FATES, pointPlay } from '../src/simulate/crash-points.ts';
import { simulateWorlds } from '../src/simulate/simulate-worlds.ts';
import { playWorld } from '../src/simulate/world/play-world.ts';
import { chance } from '../src/terminal/chance.ts';

// slow: 12 s

const seed = String(number);
const courses = Object.keys(COURSES) as Course[];

t.test(`150 worlds in bad weather keep every promise (TEST_SEED=${seed})`, async (t) => {
  const figures = await simulateWorlds(seed, 150);
  t.same(figures.violations, []);
  for (const fate of FATES)
    if ('when' in fate) t.ok(figures.faults[`${fate.kind} ${fate.when}`], `${fate.kind} ${fate.when}`);
  for (const kind of ['away', 'FLUSHALL', 'SIGTERM']) t.ok(figures.faults[kind], kind);
  t.ok(figures.repeatedCalls > 0, 'votes that died with their worker are asked for again');
  t.ok(figures.replayed > 0);
});

t.test('the polls of the exhaustive search take the courses that they are named for', async (t) => {
  const votes = async (course: Course) => {
    const { world } = await playWorld(pointPlay(course, []));
    return [...world.store.polls.values()].map((poll) => [poll.status, poll.votes.length]);
  };
  t.same(await votes('all three are heard'), [['completed', 3]]);
  t.same(await votes('two agree, the third is stopped'), [['completed', 2]]);
});

t.test(
  'a vote that was not recorded at first is recorded before its worker dies, and not asked for again',
  async (t) => {
    const fails = { kind: 'fails', when: 'before' } as const;
    const crash = { kind: 'crash', when: 'before' } as const;
    const play = (...points: Parameters<typeof pointPlay>[1]) => playWorld(pointPlay('all three are heard', points));
    const stepOf = ({ world }: Awaited<ReturnType<typeof play>>, what: string) =>
      world.effects.steps.find((step) => step.what.startsWith(what))!;
    const logging = stepOf(await play(), 'log the vote');
    const storing = stepOf(await play([logging.n, fails]), 'store the result');
    const { world } = await play([logging.n, fails], [storing.n, crash]);
    t.same(
      world.history.faults.map(({ kind }) => kind),
      ['fails before', 'crash before'],
    );
    const seat = Number(logging.what.split(' ').at(-1));
    t.equal(world.history.asked.filter((call) => call.seat === seat).length, 1);
  },
);

for (const course of courses)
  t.test(`every crash point of a poll, and pairs of them: ${course} (TEST_SEED=${seed})`, async (t) => {
    const draw = chance(seed);
    const { singles, pairs, violations } = await exhaustCrashPoints({ course, sample: () => draw.happens(0.015) });
    t.same(violations, []);
    t.ok(singles >= 90, `${singles} points`);
    t.ok(pairs >= 100, `${pairs} pairs`);
  });
