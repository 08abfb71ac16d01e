import type { PanelName, PollSpec, Vote, VoteError } from '@eloquentpoll/contracts';
import { pollState } from '@eloquentpoll/polls';
import { virtualClock } from '@eloquentpoll/testkit/virtual-clock';
import t from 'tap';
import { Abandoned, type Collecting, collectVotes } from '../src/collect-votes.ts';
import { hedgeBudget } from '../src/hedge-budget.ts';

// The fan-out against models that answer by script, in virtual time.

interface Script {
  /** Option, error, or null for a model that never answers. */
  says: number | VoteError | null;
  ms: number;
}

function spec(count: number, more: Partial<PollSpec> = {}): PollSpec {
  return {
    question: 'Which one is it?',
    options: ['A', 'B'],
    panel_name: 'broad' as PanelName,
    confidence_threshold: 1,
    max_cost_u: 1_000_000,
    min_votes: 3,
    search: false,
    seed: 's',
    seats: Array.from({ length: count }, (_, i) => ({
      model_id: `sim/m${i}`,
      family: `f${i}`,
      reserve_u: 1_000,
      failure_rate: 0,
      p90_ms: 500,
    })),
    simulated: true,
    ...more,
  };
}

function bench(poll: PollSpec, scripts: Script[], more: Partial<Collecting> = {}) {
  const clock = virtualClock();
  const asked: { seat: number; at: number }[] = [];
  const aborted: number[] = [];
  let inFlight = 0;
  let mostInFlight = 0;
  const ask: Collecting['ask'] = (seat, _timeLeftMs, signal) => {
    asked.push({ seat, at: clock.now() });
    mostInFlight = Math.max(mostInFlight, ++inFlight);
    const script = scripts[seat]!;
    return new Promise((resolve) => {
      const end = (option: number | null, error: VoteError | null) => {
        inFlight--;
        resolve(vote(seat, option, error, script.ms));
      };
      const cancel =
        script.says === null
          ? () => {}
          : clock.after(script.ms, () =>
              typeof script.says === 'number' ? end(script.says, null) : end(null, script.says as VoteError),
            );
      signal.addEventListener('abort', () => {
        cancel();
        aborted.push(seat);
        end(null, 'aborted');
      });
    });
  };
  const run = collectVotes({
    spec: poll,
    votes: [],
    state: pollState(poll, more.votes),
    timeLeftMs: 60_000,
    clock,
    hedges: hedgeBudget(),
    signal: new AbortController().signal,
    ask,
    onVote: () => {},
    ...more,
  });
  return { clock, asked, aborted, run: clock.run(run), mostInFlight: () => mostInFlight };
}

function vote(seat: number, option: number | null, error: VoteError | null = null, ms = 10): Vote {
  return {
    seat,
    model_id: `sim/m${seat}`,
    option,
    error,
    latency_ms: ms,
    billed_u: option === null ? 0 : 700,
    provider_cost_u: null,
    labels: [],
    calls: 1,
    searched: false,
  };
}

const all = (count: number, says: number, ms = 100): Script[] => Array.from({ length: count }, () => ({ says, ms }));

t.test(
  '[§A6-aborted-not-in-votes] unanimous models lock a panel of seven after four votes; the fifth call is aborted',
  async (t) => {
    const { run, asked, aborted, clock } = bench(spec(7), all(7, 0));
    const { reason, votes } = await run;
    t.equal(reason, 'mathematical_lock');
    t.equal(votes.length, 4);
    t.equal(asked.length, 5, 'need 4 and one more');
    t.same(aborted, [4]);
    t.equal(clock.pending(), 0, 'no timer is left');
  },
);

t.test('a stop accounts for the calls that it aborts, and the deadline for those that it gives up', async (t) => {
  const spent = { calls: 1, providerCostU: null, cost: { estimated_u: 70, max_u: 900, fault_u: 0 } };
  const asking = (scripts: Script[], waits: number): Collecting['ask'] => {
    return (seat, _timeLeftMs, signal, onSpent) => {
      if (seat !== waits) onSpent(spent);
      const script = scripts[seat]!;
      return new Promise((resolve) => {
        signal.addEventListener('abort', () => resolve(vote(seat, null, 'aborted')));
        if (typeof script.says === 'number') resolve(vote(seat, script.says));
      });
    };
  };
  const silent = all(7, 0);
  silent[0] = { says: null, ms: 0 };
  silent[1] = { says: null, ms: 0 };
  const stopped = await bench(spec(7, { panel_name: 'fast' }), silent, { ask: asking(silent, 1) }).run;
  t.equal(stopped.reason, 'mathematical_lock');
  const sent = { calls: 1, estimated_u: 70, max_u: 900 };
  const aborted = [
    { seat: 0, model_id: 'sim/m0', ...sent },
    { seat: 6, model_id: 'sim/m6', ...sent },
  ];
  t.same(stopped.aborted, aborted, 'seat 1 waited for its place');

  const none = silent.map(() => ({ says: null, ms: 0 }));
  const late = await bench(spec(3, { panel_name: 'fast' }), none, { ask: asking(none, 1), timeLeftMs: 1_000 }).run;
  t.match(late, {
    aborted: { length: 0 },
    votes: [
      { seat: 0, error: 'timeout', calls: 1, cost: { estimated_u: 70, max_u: 900, fault_u: 0 } },
      { seat: 1, error: 'timeout', calls: 0 },
      { seat: 2, error: 'timeout', calls: 1 },
    ],
  });
});

t.test('a vote that is given up is never charged more than the maximum of its seat', async (t) => {
  const cost = { estimated_u: 5_000, max_u: 9_000, fault_u: 7_000 };
  const ask: Collecting['ask'] = (seat, _timeLeftMs, signal, onSpent) => {
    onSpent({ calls: 1, providerCostU: null, cost });
    return new Promise((resolve) => {
      signal.addEventListener('abort', () => resolve(vote(seat, null, 'aborted')));
    });
  };
  const none = all(3, 0).map(() => ({ says: null, ms: 0 }));
  const { votes } = await bench(spec(3, { panel_name: 'fast' }), none, { ask, timeLeftMs: 1_000 }).run;
  t.equal(votes.length, 3);
  for (const vote of votes) t.match(vote, { error: 'timeout', cost: { ...cost, fault_u: 1_000 } });
});

t.test('a failed call frees its place at once; a slow model delays no other', async (t) => {
  const scripts = all(7, 0);
  scripts[0] = { says: 'provider_error', ms: 1 };
  scripts[1] = { says: 0, ms: 30_000 };
  const { run, asked, clock } = bench(spec(7), scripts);
  const { reason } = await run;
  t.equal(reason, 'mathematical_lock');
  t.ok(clock.now() < 1_000, 'the slow one was not awaited');
  t.ok(
    asked.some(({ seat, at }) => seat === 5 && at === 1),
    'the next model was asked when the first failed',
  );
});

t.test(
  '[§A6-deadline-votes] at the deadline models in flight are failed votes and nothing is waited for',
  async (t) => {
    const scripts: Script[] = [...all(2, 0, 100), ...Array.from({ length: 5 }, () => ({ says: null, ms: 0 }))];
    const { run, aborted, clock } = bench(spec(7), scripts, { timeLeftMs: 5_000 });
    const { reason, votes, state } = await run;
    t.equal(reason, null);
    t.equal(clock.now(), 5_000);
    const late = votes.filter((b) => b.error === 'timeout');
    t.same(
      late.map((b) => b.seat),
      aborted.toSorted((a, b) => a - b),
    );
    t.ok(late.length >= 2);
    t.equal(state.states.filter((s) => s.kind === 'in_flight').length, 0);
    t.equal(clock.pending(), 0);
  },
);

t.test('models that answered an earlier worker are not asked again', async (t) => {
  const { run, asked } = bench(spec(7), all(7, 0), { votes: [vote(2, 0), vote(0, 0), vote(1, 0)] });
  const { votes } = await run;
  t.same(
    asked.map((a) => a.seat).filter((seat) => seat < 3),
    [],
  );
  t.equal(votes.length, 4);
});

t.test('a poll that was complete when its worker died: no further call', async (t) => {
  const resumed = [0, 1, 2, 3].map((seat) => vote(seat, 0));
  const { run, asked } = bench(spec(7), all(7, 0), { votes: resumed });
  t.equal((await run).reason, 'mathematical_lock');
  t.same(asked, []);
});

t.test('a poll without time left ends at once', async (t) => {
  const { run, asked } = bench(spec(7), all(7, 0), { timeLeftMs: 0, votes: [vote(0, 1)] });
  const { reason, votes } = await run;
  t.equal(reason, null);
  t.same(votes, [vote(0, 1)]);
  t.same(asked, []);
});

t.test('a worker paused past the deadline: no further call when a vote arrives', async (t) => {
  const time = virtualClock();
  let paused = false;
  const clock = { now: () => time.now() + (paused ? 60_000 : 0), after: time.after };
  const asked: number[] = [];
  const run = collectVotes({
    spec: spec(7),
    votes: [],
    state: pollState(spec(7)),
    timeLeftMs: 30_000,
    clock,
    hedges: hedgeBudget(),
    signal: new AbortController().signal,
    ask(seat) {
      asked.push(seat);
      if (seat > 0) return new Promise(() => {});
      return new Promise((resolve) =>
        time.after(10, () => {
          paused = true;
          resolve(vote(0, null, 'refusal'));
        }),
      );
    },
    onVote: () => {},
  });
  t.equal((await time.run(run)).reason, null);
  t.same(asked, [0, 1, 2, 3, 4], 'a failed vote would have called for the next model');
});

t.test('a poll that is taken away rejects, aborts its calls and leaves no timer', async (t) => {
  const away = new AbortController();
  const bed = bench(spec(7), all(7, 0, 1_000), { signal: away.signal });
  bed.clock.after(300, () => away.abort());
  await t.rejects(bed.run, Abandoned);
  t.equal(bed.aborted.length, bed.asked.length);
  t.equal(bed.clock.pending(), 0);
});

t.test('a strong poll hedges with the next juror once the oldest call is slower than its p90', async (t) => {
  const scripts = all(7, 0, 400);
  scripts[0] = { says: 0, ms: 20_000 };
  const { run, asked, clock } = bench(spec(7, { panel_name: 'strong' }), scripts);
  await run;
  const hedge = asked[4];
  t.equal(asked.filter((a) => a.at === 0).length, 4, 'need 4 and not one more');
  t.match(hedge, { seat: 4, at: 500 });
  t.ok(clock.now() < 2_000);
});

t.test('hedges are capped by their budget', async (t) => {
  const scripts = all(7, 0, 400);
  scripts[0] = { says: 0, ms: 20_000 };
  const { run, asked, clock } = bench(spec(7, { panel_name: 'strong' }), scripts, { hedges: hedgeBudget(0, 0) });
  await run;
  t.equal(asked.length, 4);
  t.equal(clock.now(), 20_000, 'then the poll waits');
});

t.test('a fast poll asks everybody at once', async (t) => {
  const { run, mostInFlight } = bench(spec(5, { panel_name: 'fast' }), all(5, 1));
  await run;
  t.equal(mostInFlight(), 5);
});

t.test('the budget stops a poll before a call that might not fit', async (t) => {
  const scripts = all(7, 0);
  scripts[1] = { says: 1, ms: 100 };
  const { run, asked } = bench(spec(7, { max_cost_u: 2_500 }), scripts);
  const { reason, votes } = await run;
  t.equal(reason, 'budget');
  t.ok(votes.reduce((sum, b) => sum + b.billed_u, 0) <= 2_500);
  t.equal(asked.length, 3, '700 + 700 + reserve 1000 fit, 2100 + 1000 do not');
});

t.test('canceled: calls under way count against what the account has free of failed calls', async (t) => {
  const never: Collecting['ask'] = (seat, _timeLeftMs, signal, onSpent) => {
    onSpent({ calls: 1, providerCostU: null, cost: { estimated_u: 40, max_u: 90, fault_u: 0 } });
    return new Promise((resolve) => signal.addEventListener('abort', () => resolve(vote(seat, null, 'aborted', 0))));
  };
  const seats = spec(3).seats.map((seat) => ({ ...seat, p90_ms: 1_000 }));
  for (const [afterMs, fault_u, why] of [
    [1_000, 40, 'with their usual cost'],
    [1_001, 90, 'with their maximum if they took longer than usual'],
  ] as const) {
    const canceled = new AbortController();
    const { run, clock } = bench(spec(3, { seats }), [], { ask: never, canceled: canceled.signal });
    clock.after(afterMs, () => canceled.abort());
    const { votes, aborted, reason } = await run;
    t.same([reason, aborted], [null, []]);
    t.ok(votes.length > 0);
    for (const { error, cost } of votes)
      t.match({ error, cost }, { error: 'aborted', cost: { fault_u, max_u: 90 } }, why);
  }
});
