import { eventually } from '@eloquentpoll/testkit/eventually';
import t from 'tap';
import type { Load } from '../src/faults/caller-load.ts';
import type { Fault } from '../src/faults/fault-kinds.ts';
import { playFloodPhases } from '../src/faults/flood-phases.ts';
import type { Injection } from '../src/faults/inject-faults.ts';

// Phases with and without a flood, whose loads, faults and repairs are only noted.

const FAULT: Fault = { kind: 'reset link', target: 'g1-redis', at: 0, until: 1 };
const NOTHING = Promise.resolve();

/** What happens, in this order. Loads end when `answers` says so, faults with their phase. */
function noted(answers: (what: string) => Promise<void> = () => NOTHING) {
  const events: string[] = [];
  const load = (what: string, seed: string): Load => {
    events.push(`${what} ${seed}`);
    return { finish: () => answers(what).then(() => void events.push(`${what} answered`)) };
  };
  return {
    events,
    startFlood: (seed: string) => load('flood', seed),
    startQuiet: (seed: string) => load('quiet', seed),
    inject(seed: string, over: AbortSignal): Injection {
      events.push(`faults ${seed}`);
      const done = new Promise<void>((resolve) => over.addEventListener('abort', () => resolve()));
      return { injected: [FAULT], skipped: new Map([['disk full', 2]]), done };
    },
    repair: () => NOTHING.then(() => void events.push('repaired')),
  };
}

const SHORT = { rounds: 2, seed: 's', settleMs: 1, phaseMs: 5 };
const beginnings = (events: readonly string[]) => events.filter((event) => !/answered|repaired/.test(event));

t.test('each round has a phase of both kinds, in turn, with the same polls and the same faults', async (t) => {
  const parts = noted();
  const { injection, phases } = playFloodPhases({ ...SHORT, ...parts, signal: new AbortController().signal });
  await injection.done;
  const [first, second] = ['s|round 0', 's|round 1'];
  t.same(beginnings(parts.events), [
    ...[`flood ${first}|flood`, `quiet ${first}`, `faults ${first}`],
    ...[`quiet ${first}`, `faults ${first}`],
    ...[`quiet ${second}`, `faults ${second}`],
    ...[`flood ${second}|flood`, `quiet ${second}`, `faults ${second}`],
  ]);
  t.same(
    phases.map(({ isFlooded }) => isFlooded),
    [true, false, false, true],
  );
  for (const [i, { from, until }] of phases.entries()) {
    t.ok(until >= from);
    t.ok(from >= (phases[i - 1]?.until ?? 0), 'one phase after the other');
  }
  t.same(injection.injected, Array(4).fill(FAULT), 'the faults of all phases');
  t.same([...injection.skipped], [['disk full', 8]]);
});

t.test('the next phase begins when the service is whole, and no poll is left of the one before', async (t) => {
  const answer = Promise.withResolvers<void>();
  const parts = noted((what) => (what === 'quiet' ? answer.promise : NOTHING));
  const { injection } = playFloodPhases({ ...SHORT, rounds: 1, ...parts, signal: new AbortController().signal });
  await eventually('the end of the first phase', () => parts.events.includes('repaired'));
  t.equal(beginnings(parts.events).length, 3, 'one flood, one load, its faults');
  answer.resolve();
  await injection.done;
  t.equal(beginnings(parts.events).length, 5);
  t.ok(parts.events.indexOf('quiet answered') < parts.events.lastIndexOf('quiet s|round 0'));
});

t.test('a phase in which the campaign ends does not count, and its polls are waited for by the campaign', async (t) => {
  const over = new AbortController();
  const answer = Promise.withResolvers<void>();
  const parts = noted(() => answer.promise);
  const { injection, load, phases } = playFloodPhases({ ...SHORT, phaseMs: 600_000, ...parts, signal: over.signal });
  await eventually('faults', () => parts.events.some((event) => event.startsWith('faults')));
  over.abort();
  await injection.done;
  t.same(phases, []);
  t.equal(beginnings(parts.events).length, 3, 'no other phase');
  const finished = load.finish();
  answer.resolve();
  await finished;
  t.ok(parts.events.includes('quiet answered'));
});

t.test('a service that cannot be made whole ends the phases', async (t) => {
  const repair = () => Promise.reject(new Error('g1 does not start'));
  const parts = { ...noted(), repair };
  const { injection } = playFloodPhases({ ...SHORT, ...parts, signal: new AbortController().signal });
  await t.rejects(injection.done, { message: 'g1 does not start' });
  t.equal(beginnings(parts.events).length, 3);
});
