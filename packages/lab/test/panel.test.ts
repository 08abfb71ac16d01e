import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import { readArguments } from '../src/panel/arguments.ts';
import { judgePanels } from '../src/panel/judge-panels.ts';
import { panelsReport } from '../src/panel/report.ts';
import { parsePriceFile, pricesByModel } from '../src/replay/price-file.ts';
import { FIVE, votesOf, voteText } from './recorded-votes.ts';

/** The right answer is A. The first model is always right, each of the others one time in three. */
const VOTES = Array.from({ length: 120 }, (_, i) => `A${['ABCD', 'BACC', 'CBAB'][i % 3]!}`);
const five = { name: 'five', models: FIVE };
const prices = new Map(FIVE.map((model, i) => [model, i + 1]));

t.test('panels against their best member', async (t) => {
  const [three, all] = judgePanels({ file: votesOf(FIVE, VOTES), prices, sizes: [3], named: [five] });
  t.equal(three!.name, 'best 3');
  t.equal(three!.bestMember, FIVE[0]);
  t.equal(three!.figures.questions, 60, 'judged on the other half');
  t.match(all, { name: 'five', models: FIVE, price: 15, bestMemberPrice: 1, isBelowItsBest: true });
  t.equal(all!.figures.bestMemberRight.share, 1);
  const report = panelsReport([three!, all!]);
  t.match(report, /WARNING: five is right less often than gemini-x alone, by \d/);
  t.match(report, /five: gemini-x, claude-x/);
  t.match(report, /m\$ a poll/);
  t.equal(three!.reading, null, '60 questions teach nothing');
  const again = Array.from({ length: 4 }, () => VOTES).flat();
  const [, taught] = judgePanels({ file: votesOf(FIVE, again), prices, sizes: [3], named: [five] });
  t.match(taught!.reading, { right: { mean: 1 }, overBestMember: { mean: 0 } }, 'it finds out who is always right');
  t.match(panelsReport([taught!]), /100\.0 +\+33\.3 \[\+29\.9, \+36\.3\]/);
  t.notMatch(panelsReport(judgePanels({ file: votesOf(FIVE, VOTES), prices: null, sizes: [3], named: [] })), /m\$/);
});

t.test('panels are made of models that have a price; a panel with others is judged all the same', async (t) => {
  const some = new Map([...prices].slice(1, 4));
  const judged = judgePanels({ file: votesOf(FIVE, VOTES), prices: some, sizes: [2, 5], named: [five] });
  t.same(
    judged.map(({ name, models, price }) => [name, models.length, price]),
    [
      ['best 2', 2, judged[0]!.price],
      ['five', 5, null],
    ],
  );
  t.ok(judged[0]!.models.every((model) => some.has(model)));
});

t.test('one price per model', async (t) => {
  const file = parsePriceFile(
    JSON.stringify({ by_panel: { r2: { a: 1 }, r3: { a: 2 } }, listed: { r2: { a: 3, b: 4 }, r3: { a: 3 } } }),
    'p.json',
  );
  t.same(
    [...pricesByModel(file, undefined)],
    [
      ['a', 3],
      ['b', 4],
    ],
  );
  t.throws(() => pricesByModel(file, 'by_panel'), /several prices in "by_panel"/);
  t.throws(() => pricesByModel(file, 'none'), /no price set "none"/);
});

t.test('the command', async (t) => {
  t.match(readArguments(['--votes', 'v', '--sizes', '3,11']), { sizes: [3, 11], json: false });
  t.throws(() => readArguments(['--votes', 'v', '--sizes', '0']), /--sizes is a whole number from 1 to 15/);
  t.throws(() => readArguments([]), /name a file/);
  const folder = t.testdir({ 'votes.csv': voteText(FIVE, VOTES), 'alone.csv': voteText(FIVE, ['AAAA.']) });
  const main = fileURLToPath(new URL('../src/panel/main.ts', import.meta.url));
  const panel = (...args: string[]) => spawnSync(process.execPath, [main, '--votes', ...args], { encoding: 'utf8' });
  const json = panel(join(folder, 'votes.csv'), '--roster', FIVE.join(), '--json', '--sizes', '3');
  t.equal(json.status, 0, json.stderr);
  t.match(JSON.parse(json.stdout), { panels: [{ name: 'best 3' }, { name: '5 models', isBelowItsBest: true }] });
  t.match(panel(join(folder, 'alone.csv')).stderr, /no question was put to every model/);
});
