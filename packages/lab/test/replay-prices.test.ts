import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { decide } from '@eloquentpoll/voting';
import t from 'tap';
import { crossFitted, gateOf, trackRecordOf } from '../src/replay/audited-polls.ts';
import { compareRules, courseOf } from '../src/replay/compare-rules.ts';
import { parsePriceFile, pricesOf } from '../src/replay/price-file.ts';
import { recordedPolls } from '../src/replay/recorded-poll.ts';
import { FIVE, votesOf, voteText } from './recorded-votes.ts';

const PANEL = { name: 'five', models: FIVE };
const PRICES = new Map(FIVE.map((model, i) => [model, 16 / 2 ** i] as const));
const cheapest = { order: 'cheapest', prices: PRICES } as const;

t.test('prices of a panel: by its name, else of a panel that has all of its models', async (t) => {
  const file = parsePriceFile(
    JSON.stringify({
      note: 'x',
      listed: { r2: { a: 1, b: 2 }, r3: { a: 4, b: 5, c: 0 } },
      other: { r2: { a: 9, b: 9 } },
    }),
    'p.json',
  );
  const panel = (name: string, ...models: string[]) => ({ name, models });
  t.same([...pricesOf(file, undefined, panel('r2', 'a', 'b')).values()], [1, 2]);
  t.same([...pricesOf(file, 'other', panel('r2', 'a', 'b')).values()], [9, 9]);
  t.equal(pricesOf(file, 'listed', panel('2 models', 'b', 'c')).get('b'), 5);
  t.throws(() => pricesOf(file, 'listed', panel('x', 'a', 'z')), /no panel with all models of x/);
  t.throws(() => pricesOf(file, 'dear', panel('x', 'a')), /no price set "dear"; there are listed, other/);
});

t.test('a price file that is none is refused by name', async (t) => {
  const refused = (value: unknown, why: RegExp) =>
    t.throws(() => parsePriceFile(typeof value === 'string' ? value : JSON.stringify(value), 'p.json'), why);
  refused('{', /^p\.json: /);
  refused('[]', /price sets/);
  refused({ note: 'only' }, /expected a price set/);
  refused({ set: 3 }, /"set" is no object/);
  refused({ set: { r7: null } }, /"set\.r7" is no object/);
  for (const price of ['1', -1, null]) refused({ set: { r7: { m: price } } }, /price of m in "set\.r7"/);
});

t.test('cheapest first asks by price, and few options stay shuffled', async (t) => {
  const file = votesOf(FIVE, ['AAAAA', 'ABCDA']);
  const [poll] = recordedPolls(file, PANEL, cheapest);
  t.same(poll!.models, FIVE.toReversed());
  t.same(poll!.prices, [1, 2, 4, 8, 16]);
  const twoOptions = { ...file, questions: file.questions.map((question) => ({ ...question, optionCount: 2 })) };
  const shuffled = recordedPolls(twoOptions, PANEL);
  t.same(
    recordedPolls(twoOptions, PANEL, cheapest).map(({ models }) => models),
    shuffled.map(({ models }) => models),
  );
});

t.test('dollars saved are the prices of those who were not asked', async (t) => {
  const [full, lock] = compareRules(recordedPolls(votesOf(FIVE, ['AAAAA']), PANEL, cheapest), 0.95, () => {});
  t.equal(full!.dollarsSaved, 0);
  t.equal(lock!.dollarsSaved, 24 / 31, 'three of five are a lock, and the two dearest were spared');
  t.equal(lock!.callsSaved, 2 / 5);
  const [unpriced] = compareRules(recordedPolls(votesOf(FIVE, ['AAAAA']), PANEL), 0.95, () => {});
  t.equal(unpriced!.dollarsSaved, null);
});

/** The cheap models agree on A, and the panel elects B. */
const MISLEADING = Array.from({ length: 60 }, () => 'BBBAA');

t.test('a record of polls that went wrong brakes the same polls', async (t) => {
  const polls = recordedPolls(votesOf(FIVE, [...MISLEADING, 'AAAAA']), PANEL, cheapest);
  const record = trackRecordOf(polls, 5);
  const stopsAfter = (threshold: number, braked: boolean) =>
    courseOf({ ...polls.at(-1)!, ...(braked && { record }) }, threshold).findIndex(
      (poll) => decide({ ...poll, rules: { ...poll.rules, minVotes: 2 } }, { slow: false }).kind === 'stop',
    );
  t.equal(stopsAfter(0.8, false), 2);
  t.equal(stopsAfter(0.8, true), 3, 'two for A stood sixty times and won once');
});

t.test('cross-fitting: no poll is judged by a record that knows it', async (t) => {
  // A poll of its own kind: two failures, then one vote. Only itself could have taught that situation.
  const polls = recordedPolls(votesOf(FIVE, [...MISLEADING, 'AAA--']), PANEL, cheapest);
  const fitted = crossFitted(polls, 5);
  t.same(
    fitted.map(({ question }) => question.id),
    polls.map(({ question }) => question.id),
  );
  t.equal(trackRecordOf(polls, 5).situations.get('3 1 4')?.polls, 1);
  t.equal(fitted.at(-1)!.record!.situations.has('3 1 4'), false);
  t.ok(fitted[1]!.record!.situations.has('3 1 4'));
});

t.test('the gate opens after 300 audits at the earliest, and not for an order that misleads', async (t) => {
  const polls = (votes: string, count: number) =>
    recordedPolls(
      votesOf(
        FIVE,
        Array.from({ length: count }, () => votes),
      ),
      PANEL,
      cheapest,
    );
  t.same(gateOf(polls('AAAAA', 400), 5, 0.95), { opensAfter: 300, isAlarmed: false, wrongStops: 0 });
  t.same(gateOf(polls('AAAAA', 299), 5, 0.95).opensAfter, null);
  // Two cheap models and the third disagree: at 0.6 the poll stops on the cheap ones' option, and the panel elects the other.
  t.same(gateOf(polls('BBBAA', 400), 5, 0.6), { opensAfter: null, isAlarmed: true, wrongStops: 1 });
});

t.test('the command: dollars, order and record', async (t) => {
  const folder = t.testdir({
    'votes.csv': voteText(FIVE, ['AAAAA', 'AABB-', 'BBBBA', 'BBBBB']),
    'other.csv': voteText(FIVE, MISLEADING),
    'prices.json': JSON.stringify({ set: { five: Object.fromEntries(PRICES) } }),
  });
  const file = (name: string) => join(folder, name);
  const main = fileURLToPath(new URL('../src/replay/main.ts', import.meta.url));
  const replay = (...args: string[]) =>
    spawnSync(process.execPath, [main, '--votes', file('votes.csv'), '--roster', FIVE.join(), ...args], {
      encoding: 'utf8',
    });
  const priced = replay('--prices', file('prices.json'), '--order', 'cheapest', '--record', file('votes.csv'));
  t.equal(priced.status, 0, priced.stderr);
  t.match(priced.stdout, /asked cheapest first, with the track record of 4 audited polls/);
  t.match(priced.stdout, /gate: stays shut; 0\.00 % of the early stops wrong/);
  t.match(priced.stdout, /calls saved +dollars saved/);
  t.match(priced.stdout, /without the record\) +calls +dollars/);
  t.match(replay('--record', file('other.csv')).stdout, /asked in shuffled order, with the track record of 60 audited/);
  t.notMatch(replay().stdout, /dollars|asked/);
  t.match(replay('--order', 'cheapest').stderr, /--order cheapest needs --prices FILE/);
  t.match(replay('--order', 'dearest').stderr, /cheapest or shuffled, not "dearest"/);
  t.match(replay('--prices', file('votes.csv')).stderr, /votes\.csv: /);
});
