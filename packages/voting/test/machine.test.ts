// A poll from its first launch to its end, with random prices, panels, votes, failures and orders of arrival.
import fc from '@eloquentpoll/testkit/fast-check';
import t from 'tap';
import { budgetLeftU, spentU } from '../src/budget.ts';
import { conclude } from '../src/conclude.ts';
import { confidenceAmong } from '../src/confidence.ts';
import { type Decision, decide } from '../src/decide.ts';
import { isLocked } from '../src/mathematical-lock.ts';
import {
  type EndedVote,
  launched,
  newPoll,
  type PollState,
  type Rules,
  received,
  type VotingSeat,
} from '../src/poll.ts';
import { seatsThatAre, tally, unresolvedFailureRates, unresolvedSeats } from '../src/standing.ts';
import { votesCast } from '../src/tally.ts';
import { holds } from './holds.ts';

interface Script {
  readonly rules: Rules;
  readonly seats: readonly (VotingSeat & { option: number | null; billedShare: number })[];
  readonly slow: boolean;
  /** Which call in flight ends next, as a number that is taken modulo how many there are. */
  readonly arrivals: readonly number[];
}

const scripts: fc.Arbitrary<Script> = fc.integer({ min: 2, max: 6 }).chain((optionCount) =>
  fc.record({
    rules: fc.record({
      optionCount: fc.constant(optionCount),
      threshold: fc.oneof(fc.constantFrom(0, 0.8, 0.95, 1), fc.double({ min: 0, max: 1, noNaN: true })),
      minVotes: fc.integer({ min: 1, max: 4 }),
      maxCostU: fc.oneof(fc.constant(10_000n), fc.bigInt({ min: 0n, max: 300n })),
      hedge: fc.constantFrom('all', 'one', 'when_slow', 'none'),
    }),
    seats: fc.array(
      fc.record({
        family: fc.constantFrom('ant', 'bee', 'cat'),
        reserveU: fc.bigInt({ min: 0n, max: 100n }),
        failureRate: fc.double({ min: 0, max: 1, noNaN: true }),
        option: fc.oneof(
          { weight: 3, arbitrary: fc.constant(0) },
          { weight: 2, arbitrary: fc.nat({ max: optionCount - 1 }) },
          { weight: 1, arbitrary: fc.constant(null) },
        ),
        billedShare: fc.double({ min: 0, max: 1, noNaN: true }),
      }),
      { minLength: 1, maxLength: 10 },
    ),
    slow: fc.boolean(),
    arrivals: fc.array(fc.nat(), { minLength: 10, maxLength: 10 }),
  }),
);

interface Moment {
  readonly poll: PollState;
  readonly decision: Decision;
}

/** Every state in which the poll was decided upon, to the stop. Throws when it takes longer than its panel. */
function play({ rules, seats, slow, arrivals }: Script): Moment[] {
  const moments: Moment[] = [];
  let poll = newPoll(rules, seats);
  for (let ended = 0; ended <= seats.length; ended++) {
    const decision = decide(poll, { slow });
    moments.push({ poll, decision });
    if (decision.kind === 'stop') return moments;
    poll = launched(poll, decision.launch);
    const calls = seatsThatAre(poll, 'in_flight');
    const seat = calls[arrivals[ended]! % calls.length]!;
    const { option, billedShare, reserveU } = seats[seat]!;
    const billedU = option === null ? 0n : BigInt(Math.floor(Number(reserveU) * billedShare));
    poll = received(poll, { seat, option, billedU });
  }
  throw new Error('the poll did not end');
}

t.test(
  'every poll ends, asks no model twice and stays within its budget [§1-early-termination, §2.1-max-cost-usd-effect]',
  async (t) => {
    holds(
      t,
      'from first launch to stop',
      fc.property(scripts, (script) => {
        const moments = play(script);
        const asked = moments.flatMap(({ decision }) => (decision.kind === 'go' ? decision.launch : []));
        const within = moments.every(({ poll }) => budgetLeftU(poll) >= 0n && spentU(poll) <= script.rules.maxCostU);
        return within && new Set(asked).size === asked.length;
      }),
      1_000,
    );
  },
);

t.test('a poll that goes on has a call to wait for', async (t) => {
  holds(
    t,
    'in flight or launched',
    fc.property(scripts, (script) =>
      play(script).every(
        ({ poll, decision }) =>
          decision.kind === 'stop' || decision.launch.length > 0 || seatsThatAre(poll, 'in_flight').length > 0,
      ),
    ),
  );
});

t.test('the reason to stop is the first that holds, and none held before', async (t) => {
  holds(
    t,
    'as an independent reading of the four rules says',
    fc.property(scripts, (script) =>
      play(script).every(({ poll, decision }) =>
        decision.kind === 'stop' ? decision.reason === reasonOf(poll) : reasonOf(poll) === null,
      ),
    ),
    1_000,
  );
});

function reasonOf(poll: PollState): string | null {
  const votes = tally(poll);
  const remaining = unresolvedSeats(poll).length;
  if (remaining === 0) return 'roster_exhausted';
  if (isLocked(votes, remaining)) return 'mathematical_lock';
  const reached = confidenceAmong(votes, unresolvedFailureRates(poll));
  if (reached !== null && reached >= poll.rules.threshold && votesCast(votes) >= poll.rules.minVotes) {
    const leading = votes.indexOf(Math.max(...votes));
    const behind = poll.seats.filter((_, seat) => {
      const state = poll.states[seat]!;
      return state.kind === 'voted' && state.option === leading;
    });
    const oneFamilyOnly = poll.seats.every(({ family }) => family === poll.seats[0]!.family);
    if (oneFamilyOnly || behind.some(({ family }) => family !== behind[0]!.family)) return 'confidence';
  }
  const waiting = poll.seats.filter((_, seat) => poll.states[seat]!.kind === 'waiting');
  const idle = seatsThatAre(poll, 'in_flight').length === 0;
  return idle && waiting.every(({ reserveU }) => reserveU > budgetLeftU(poll)) ? 'budget' : null;
}

t.test('a hedge changes how long a poll takes, never which votes a sequence of arrivals stops at', async (t) => {
  holds(
    t,
    'the panel is asked in order when calls end in order',
    fc.property(scripts, (script) => {
      const inOrder = {
        ...script,
        arrivals: script.arrivals.map(() => 0),
        rules: { ...script.rules, maxCostU: 10_000n },
      };
      const ends = (['all', 'one', 'when_slow'] as const).map((hedge) => {
        const { poll, decision } = play({ ...inOrder, rules: { ...inOrder.rules, hedge } }).at(-1)!;
        const { requested, reason, winner } = conclude(poll, {
          reason: decision.kind === 'stop' ? decision.reason : null,
        });
        return `${requested} ${reason} ${winner}`;
      });
      return new Set(ends).size === 1;
    }),
  );
});

t.test('a poll resumed from its log is the poll that wrote it', async (t) => {
  holds(
    t,
    'votes in any order, without the launches',
    fc.property(scripts, (script) => {
      const { poll } = play(script).at(-1)!;
      const log = poll.states.flatMap((state, seat): EndedVote[] => {
        if (state.kind === 'voted') return [{ seat, option: state.option, billedU: state.billedU }];
        return state.kind === 'failed' ? [{ seat, option: null, billedU: state.billedU }] : [];
      });
      const resumed = [...log.toReversed(), ...log].reduce(received, newPoll(script.rules, script.seats));
      return spentU(resumed) === spentU(poll) && tally(resumed).join() === tally(poll).join();
    }),
  );
});
