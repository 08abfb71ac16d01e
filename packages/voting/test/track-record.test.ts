import fc from '@eloquentpoll/testkit/fast-check';
import t from 'tap';
import { chances } from '../src/chances.ts';
import { conclude } from '../src/conclude.ts';
import { confidence, confidenceAmong } from '../src/confidence.ts';
import { decide } from '../src/decide.ts';
import { isLocked } from '../src/mathematical-lock.ts';
import { need } from '../src/need.ts';
import { launched, newPoll, type PollState, received } from '../src/poll.ts';
import { seatsThatAre, standing } from '../src/standing.ts';
import { leader, votesCast } from '../src/tally.ts';
import { type HeardPoll, learn, type Outcomes, situationOf, type TrackRecord } from '../src/track-record.ts';
import { holds } from './holds.ts';
import { pollAfter, RULES, seatsOf } from './make-poll.ts';

const recordOf = (
  panelSize: number,
  situations: Iterable<readonly [string, Outcomes]>,
  isAlarmed = false,
): TrackRecord => ({ panelSize, situations: new Map(situations), isAlarmed });

/** Any figures at all, those that no audit could have left included. */
const lies = fc.record({
  polls: fc.oneof(fc.nat({ max: 5_000 }), fc.constantFrom(-20, -1, Number.NaN, Number.POSITIVE_INFINITY)),
  won: fc.oneof(fc.nat({ max: 9_000 }), fc.constantFrom(-500, Number.NaN, Number.NEGATIVE_INFINITY)),
});

const states = fc.integer({ min: 2, max: 9 }).chain((options) =>
  fc.record({
    votes: fc.array(fc.nat({ max: 4 }), { minLength: options, maxLength: options }),
    rates: fc.array(fc.double({ min: 0, max: 0.5, noNaN: true }), { maxLength: 8 }),
    failed: fc.nat({ max: 2 }),
    outcomes: lies,
  }),
);

const recordAbout = ({
  votes,
  rates,
  failed,
  outcomes,
}: {
  votes: number[];
  rates: number[];
  failed: number;
  outcomes: Outcomes;
}) => recordOf(votesCast(votes) + failed + rates.length, [[situationOf(votes, votesCast(votes) + failed), outcomes]]);

t.test('the brake: (20 urn + W) / (20 + N), where that is lower', async (t) => {
  const votes = [3, 0, 0, 0];
  const urn = confidence(votes, 6)!;
  const braked = (polls: number, won: number) =>
    confidenceAmong(votes, new Array<number>(6).fill(0), recordOf(9, [['3 3 4', { polls, won }]]))!;
  t.equal(braked(0, 0), urn);
  t.equal(braked(180, 90), (20 * urn + 90) / 200);
  t.equal(braked(180, 180), urn, 'never higher');
  t.equal(braked(1, 0), (20 * urn) / 21);
  const elsewhere = recordOf(9, [['4 3 4', { polls: 500, won: 0 }]]);
  t.equal(confidenceAmong(votes, new Array<number>(6).fill(0), elsewhere), urn, 'another situation');
  t.equal(confidenceAmong([5, 0, 0, 0], [0, 0, 0, 0], recordOf(9, [['5 5 4', { polls: 500, won: 0 }]])), 1, 'a lock');
});

t.test('a situation: votes ended, sorted counts, class of the number of options', async (t) => {
  t.equal(situationOf([0, 3, 1, 0], 5), '5 3,1 4');
  t.equal(situationOf([1, 3], 5), '5 3,1 4');
  t.equal(situationOf([3, 1, 0, 0, 0], 5), '5 3,1 7');
  t.equal(situationOf([0, 0, 0, 1, 3, 0, 0, 0], 5), '5 3,1 more');
});

t.test('a heard poll teaches one outcome for each state with a leader before its end', async (t) => {
  const situations = new Map<string, Outcomes>();
  learn(situations, { optionCount: 4, votes: [0, 1, null, 1, 1] });
  t.same(Object.fromEntries(situations), {
    '1 1 4': { polls: 1, won: 0 },
    '4 2,1 4': { polls: 1, won: 1 },
  });
  learn(situations, { optionCount: 4, votes: [2, 0, 0, 2, 1] });
  t.same(situations.get('1 1 4'), { polls: 2, won: 0 }, 'a tie of the full panel has no winner');
  learn(situations, { optionCount: 4, votes: [2, 0, 0, 2, 1] }, -1);
  learn(situations, { optionCount: 4, votes: [0, 1, null, 1, 1] }, -1);
  t.equal(situations.size, 0, 'a window forgets without a trace');
});

const heardPolls: fc.Arbitrary<HeardPoll> = fc.integer({ min: 2, max: 9 }).chain((optionCount) =>
  fc.record({
    optionCount: fc.constant(optionCount),
    votes: fc.array(fc.option(fc.nat({ max: optionCount - 1 }), { freq: 8 }), { minLength: 9, maxLength: 9 }),
  }),
);

t.test('what is learned adds up, in any order', async (t) => {
  holds(
    t,
    'won is at most polls, and taking back undoes',
    fc.property(fc.array(heardPolls, { maxLength: 12 }), (polls) => {
      const [one, other] = [new Map<string, Outcomes>(), new Map<string, Outcomes>()];
      for (const poll of polls) learn(one, poll);
      for (const poll of polls.toReversed()) learn(other, poll);
      const sane = [...one.values()].every(({ polls, won }) => won >= 0 && won <= polls && polls > 0);
      const same = [...one].every(
        ([key, { polls, won }]) => other.get(key)?.polls === polls && other.get(key)?.won === won,
      );
      for (const poll of polls) learn(other, poll, -1);
      return sane && same && other.size === 0;
    }),
  );
});

t.test('a record that lies can only lower confidence', async (t) => {
  holds(
    t,
    'from 0 to what the urn says; a lock stays a lock',
    fc.property(states, (state) => {
      const urn = confidenceAmong(state.votes, state.rates);
      const braked = confidenceAmong(state.votes, state.rates, recordAbout(state));
      if (urn === null) return braked === null;
      return braked! >= 0 && braked! <= urn && (urn < 1 || braked === 1) === true;
    }),
    2_000,
  );
});

t.test(
  'odds with a record: the leader has its confidence, all sum to 1, the others keep their proportions',
  async (t) => {
    holds(
      t,
      'as without one, but for the part that the record moves',
      fc.property(states, (state) => {
        const record = recordAbout(state);
        const { options, tie } = chances(state.votes, state.rates, record);
        const urn = chances(state.votes, state.rates);
        const leading = leader(state.votes);
        const sum = options.reduce((total, chance) => total + chance, tie);
        const others = options.flatMap((chance, i) => (i === leading ? [] : [[chance, urn.options[i]!] as const]));
        return (
          Math.abs(sum - 1) <= 1e-12 &&
          [...options, tie].every((chance) => chance >= 0 && chance <= 1) &&
          (leading === null || options[leading] === confidenceAmong(state.votes, state.rates, record)) &&
          others.every(([chance, before]) => chance >= before - 1e-15) &&
          others.every(([a, b]) => others.every(([c, d]) => Math.abs(a * d - b * c) <= 1e-12))
        );
      }),
      1_000,
    );
  },
);

t.test('need speaks of the same rule', async (t) => {
  holds(
    t,
    'the first number of votes for the leader at which the braked confidence reaches the threshold',
    fc.property(states, fc.double({ min: 0, max: 1, noNaN: true }), (state, threshold) => {
      const record = recordAbout(state);
      const { votes, rates } = state;
      const favourite = votes.indexOf(Math.max(...votes));
      const needed = need({ threshold, minVotes: 1, record }, votes, rates);
      const clearedBy = (more: number) => {
        const then = votes.with(favourite, votes[favourite]! + more);
        const reached = confidenceAmong(then, rates.slice(more), record);
        return reached !== null && reached >= threshold && votesCast(then) >= 1;
      };
      const fewer = Array.from({ length: needed }, (_, more) => more);
      return !fewer.some(clearedBy) && (needed === rates.length || clearedBy(needed));
    }),
  );
});

const scripts = fc.record({
  votes: fc.array(fc.option(fc.nat({ max: 3 }), { freq: 9 }), { minLength: 9, maxLength: 9 }),
  audits: fc.array(fc.array(fc.option(fc.nat({ max: 3 }), { freq: 9 }), { minLength: 9, maxLength: 9 }), {
    maxLength: 30,
  }),
  threshold: fc.constantFrom(0.5, 0.8, 0.95, 0.99),
  hedge: fc.constantFrom('all', 'one', 'when_slow'),
});

/** Votes that had ended when the poll stopped, calls ending in the order in which they were made. */
function playedTo(opening: PollState, votes: readonly (number | null)[]): PollState {
  let poll = opening;
  for (;;) {
    const decision = decide(poll, { slow: false });
    if (decision.kind === 'stop') return poll;
    poll = launched(poll, decision.launch);
    const seat = seatsThatAre(poll, 'in_flight')[0]!;
    poll = received(poll, { seat, option: votes[seat]!, billedU: 0n });
  }
}

t.test('with a record a poll stops at no state that the urn would not stop at, and never earlier', async (t) => {
  holds(
    t,
    'whatever was audited',
    fc.property(scripts, ({ votes, audits, threshold, hedge }) => {
      const situations = new Map<string, Outcomes>();
      for (const audit of audits) learn(situations, { optionCount: 4, votes: audit }, 20);
      const rules = { ...RULES, optionCount: 4, threshold, hedge };
      const [without, braked] = [rules, { ...rules, record: recordOf(9, situations) }].map((rules) =>
        playedTo(newPoll(rules, seatsOf(9)), votes),
      );
      const asked = (poll: PollState) => votesCast(standing(poll).tally) + standing(poll).failed;
      const { record: _, ...urnRules } = braked!.rules;
      const urnStopsThere = decide({ ...braked!, rules: urnRules }, { slow: false }).kind === 'stop';
      return asked(braked!) >= asked(without!) && urnStopsThere;
    }),
    1_000,
  );
});

t.test('an empty record is no record', async (t) => {
  holds(
    t,
    'the same decisions',
    fc.property(scripts, ({ votes, threshold, hedge }) => {
      const rules = { ...RULES, optionCount: 4, threshold, hedge };
      const [without, empty] = [rules, { ...rules, record: recordOf(9, []) }].map((rules) =>
        JSON.stringify(playedTo(newPoll(rules, seatsOf(9)), votes).states, (_, value) =>
          typeof value === 'bigint' ? Number(value) : value,
        ),
      );
      return without === empty;
    }),
  );
});

t.test('after an alarm nothing but a lock stops a poll', async (t) => {
  const record = recordOf(9, [], true);
  const unanimous = pollAfter([0, 0, 0, 0], seatsOf(9), { threshold: 0.5, record });
  t.same(decide(unanimous, { slow: false }).kind, 'go');
  t.equal(need(unanimous.rules, [4, 0, 0], [0, 0, 0, 0, 0]), 1, 'one more is a lock');
  t.same(decide(pollAfter([0, 0, 0, 0, 0], seatsOf(9), { threshold: 0.5, record }), { slow: false }), {
    kind: 'stop',
    reason: 'mathematical_lock',
  });
  holds(
    t,
    'every early stop is locked',
    fc.property(scripts, ({ votes, threshold, hedge }) => {
      const poll = playedTo(newPoll({ ...RULES, optionCount: 4, threshold, hedge, record }, seatsOf(9)), votes);
      const { tally, inFlight, waiting } = standing(poll);
      return inFlight + waiting === 0 || isLocked(tally, inFlight + waiting);
    }),
  );
});

t.test('what a poll says while it runs and when it has ended is the braked confidence', async (t) => {
  const record = recordOf(9, [['3 3 4', { polls: 180, won: 90 }]]);
  const poll = pollAfter([0, 0, 0], seatsOf(9), { record });
  const braked = (20 * confidence([3, 0, 0], 6)! + 90) / 200;
  t.equal(standing(poll).confidence, braked);
  t.equal(conclude(poll, { reason: 'confidence' }).confidence, braked);
  t.same(conclude(poll, { reason: 'confidence' }).recordUsed, { polls: 180, won: 90 });
  const forgotten = pollAfter([0, 0, 0], seatsOf(9), { record: recordOf(9, [['3 3 4', { polls: 0, won: 0 }]]) });
  t.equal(conclude(forgotten, { reason: 'confidence' }).recordUsed, null, 'no audit stood alike');
});

t.test(
  'a partial result is lowered by polls with its votes alone, as if its failed models had still to vote',
  async (t) => {
    const after = (situations: [string, Outcomes][]) =>
      conclude(pollAfter([0, 0, 0, null, null, null], seatsOf(9), { record: recordOf(9, situations) }), {
        reason: 'confidence',
      });
    const urn = confidence([3, 0, 0], 6)!;
    const lowered = after([
      ['3 3 4', { polls: 180, won: 90 }],
      ['6 3 4', { polls: 500, won: 0 }],
    ]);
    t.match(lowered, { status: 'partial', confidence: (20 * urn + 90) / 200, recordUsed: { polls: 180, won: 90 } });
    const others = lowered.chances.options.reduce((sum, chance) => sum + chance, lowered.chances.tie);
    t.ok(Math.abs(others - 1) < 1e-12);
    t.match(after([['6 3 4', { polls: 500, won: 0 }]]), { confidence: urn, recordUsed: null });
    t.match(after([['3 3 4', { polls: 180, won: 180 }]]), { confidence: urn }, 'never higher');
  },
);
