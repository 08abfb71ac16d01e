import { readFileSync } from 'node:fs';
import fc from '@eloquentpoll/testkit/fast-check';
import t from 'tap';
import { type Chances, chances, chancesOf } from '../src/chances.ts';
import { confidenceAmong } from '../src/confidence.ts';
import { standing } from '../src/standing.ts';
import { isTie, leader, votesCast } from '../src/tally.ts';
import { holds } from './holds.ts';
import { pollAfter, seatsOf } from './make-poll.ts';
import { countsUpTo, exactWinChance } from './oracle.ts';

const PRECISION = 1e-12;
const near = (a: number, b: number) => Math.abs(a - b) <= PRECISION;
const total = ({ options, tie }: Chances) => options.reduce((sum, chance) => sum + chance, tie);

const states = fc.integer({ min: 2, max: 10 }).chain((options) =>
  fc.record({
    votes: fc.array(fc.nat({ max: 5 }), { minLength: options, maxLength: options }),
    rates: fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 10 }),
  }),
);

t.test('the odds are those of every completion, for every state of up to 5 models and 3 options', async (t) => {
  let worst = 0;
  let compared = 0;
  for (const options of [2, 3]) {
    for (const votes of countsUpTo(options, 5)) {
      const cast = votesCast(votes);
      for (let remaining = 0; remaining <= 5 - cast; remaining++) {
        for (const percent of [0, 10]) {
          const odds = chances(votes, new Array<number>(remaining).fill(percent / 100));
          for (const option of votes.keys()) {
            const exact = exactWinChance(votes, new Array<number>(remaining).fill(percent), option);
            worst = Math.max(worst, Math.abs(odds.options[option]! - exact));
            compared += 1;
          }
        }
      }
    }
  }
  t.ok(worst <= PRECISION, `largest error ${worst}`);
  t.ok(compared > 900, `${compared} odds`);
});

t.test('the odds are exact where every model has a failure rate of its own', async (t) => {
  const polls = fc.integer({ min: 2, max: 4 }).chain((options) =>
    fc.record({
      votes: fc.array(fc.nat({ max: 3 }), { minLength: options, maxLength: options }),
      percents: fc.array(fc.integer({ min: 0, max: 100 }), { maxLength: 4 }),
      option: fc.nat({ max: options - 1 }),
    }),
  );
  holds(
    t,
    'equal to the enumeration of all completions',
    fc.property(polls, ({ votes, percents, option }) => {
      const rates = percents.map((percent) => percent / 100);
      return near(chances(votes, rates).options[option]!, exactWinChance(votes, percents, option));
    }),
  );
});

t.test('vectors that another program computed as fractions', async (t) => {
  interface Vector {
    readonly votes: number[];
    readonly remaining: number;
    readonly failure_rate: string;
    readonly options: string[];
    readonly tie: string;
  }
  const file = new URL('./vectors/chances.json', import.meta.url);
  const { vectors } = JSON.parse(readFileSync(file, 'utf8')) as { vectors: Vector[] };
  const number = (fraction: string) => {
    const [numerator, denominator = '1'] = fraction.split('/');
    return Number((BigInt(numerator!) * 10n ** 30n) / BigInt(denominator)) / 1e30;
  };
  t.equal(vectors.length, 64);
  for (const { votes, remaining, failure_rate, options, tie } of vectors) {
    const odds = chances(votes, new Array<number>(remaining).fill(number(failure_rate)));
    const same = options.every((chance, option) => near(odds.options[option]!, number(chance)));
    t.ok(same && near(odds.tie, number(tie)), `${votes} and ${remaining} at ${failure_rate}`);
  }
});

t.test('a poll whose leader changed: each option has its own line', async (t) => {
  const [sqlite, mongo] = [0, 1];
  const seats = seatsOf(9);
  const after = (votes: number) =>
    chancesOf(pollAfter([sqlite, sqlite, mongo, mongo, sqlite, mongo, mongo, sqlite, sqlite].slice(0, votes), seats));
  const rounded = ({ options, tie }: Chances) => [...options, tie].map((chance) => Math.round(100 * chance));
  t.same(rounded(after(0)), [32, 32, 32, 3]);
  t.same(rounded(after(7)), [20, 77, 0, 3]);
  t.same(rounded(after(8)), [48, 48, 0, 4]);
  t.same(after(9), { options: [1, 0, 0], tie: 0 });
});

t.test('the odds of any state', async (t) => {
  holds(
    t,
    'sum to 1, and none is negative',
    fc.property(states, ({ votes, rates }) => {
      const odds = chances(votes, rates);
      return near(total(odds), 1) && [...odds.options, odds.tie].every((chance) => chance >= 0 && chance <= 1);
    }),
    1_000,
  );
  holds(
    t,
    'give the leader its confidence',
    fc.property(states, ({ votes, rates }) => {
      const leading = leader(votes);
      fc.pre(leading !== null);
      return chances(votes, rates).options[leading!] === confidenceAmong(votes, rates);
    }),
    1_000,
  );
  holds(
    t,
    'are the same for options with the same votes, and larger for more votes',
    fc.property(states, ({ votes, rates }) => {
      const odds = chances(votes, rates).options;
      return votes.every((mine, i) =>
        votes.every((other, k) => {
          if (mine === other) return odds[i] === odds[k];
          return mine < other || odds[i]! >= odds[k]! - PRECISION;
        }),
      );
    }),
  );
  holds(
    t,
    'follow the options when they change places',
    fc.property(states, ({ votes, rates }) => {
      const [odds, reversed] = [chances(votes, rates), chances(votes.toReversed(), rates)];
      return odds.options.every((chance, i) => near(chance, reversed.options.at(-1 - i)!));
    }),
  );
});

t.test('a martingale: what the next vote brings averages to what is', async (t) => {
  holds(
    t,
    'over the options by the urn',
    fc.property(states, ({ votes, rates }) => {
      fc.pre(rates.length > 0);
      const left = rates.slice(1);
      const now = chances(votes, [0, ...left]).options;
      const drawn = votes.map((count) => (count + 1 / votes.length) / (1 + votesCast(votes)));
      const next = votes.map((count, option) => chances(votes.with(option, count + 1), left).options);
      // The clamp of what is not locked moves a chance by at most 1e-12.
      return now.every((chance, i) => {
        const average = next.reduce((sum, odds, option) => sum + drawn[option]! * odds[i]!, 0);
        return Math.abs(average - chance) <= 2 * PRECISION;
      });
    }),
  );
});

t.test('when all have voted the odds are the outcome', async (t) => {
  holds(
    t,
    'the winner, or a tie',
    fc.property(states, ({ votes }) => {
      const { options, tie } = chances(votes, []);
      return (
        tie === Number(leader(votes) === null) && options.every((chance, i) => chance === Number(leader(votes) === i))
      );
    }),
  );
  t.ok(isTie([2, 2]) && chances([2, 2], []).tie === 1);
  t.same(chances([0, 0], [1, 1]), { options: [0, 0], tie: 1 }, 'no vote at all');
});

t.test('the standing of a running poll and its odds say the same', async (t) => {
  const poll = pollAfter([1, 1, null, 0], seatsOf(7));
  t.equal(chancesOf(poll).options[1], standing(poll).confidence);
});
