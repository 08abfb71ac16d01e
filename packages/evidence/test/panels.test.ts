import { seededRandom } from '@eloquentpoll/voting';
import t from 'tap';
import { choosePanels, halvesOf } from '../src/choose-panels.ts';
import { isBelowItsBest, panelFigures } from '../src/panel-figures.ts';
import { readingFigures } from '../src/reading-figures.ts';

const question = (answer: number, ...votes: (number | null)[]) => ({ optionCount: 4, answer, votes });

/** Independent models that are right this often. */
function questions(count: number, right: readonly number[], seed: string) {
  const draw = seededRandom(seed);
  return Array.from({ length: count }, () => {
    const answer = draw(4);
    return question(
      answer,
      ...right.map((share) => (draw(1_000) < 1_000 * share ? answer : (answer + 1 + draw(3)) % 4)),
    );
  });
}

t.test('plurality, ties, ties broken and the best member', async (t) => {
  const figures = panelFigures(
    [question(0, 0, 0, 1), question(0, 0, 1, 2), question(1, 0, 0, 1), question(2, null, null, null)],
    [0, 1, 2],
  );
  t.equal(figures.plurality.share, 1 / 4);
  t.equal(figures.tied.share, 1 / 4);
  t.ok(Math.abs(figures.tiesBroken - (1 + 1 / 3) / 4) < 1e-12);
  t.equal(figures.bestMember, 0, 'right twice');
  t.equal(figures.bestMemberRight.share, 2 / 4);
  t.ok(Math.abs(figures.difference.mean - (4 / 3 - 2) / 4) < 1e-12);
  t.equal(figures.questions, 4);
});

t.test('peers are better than each of them; weak voices drag a strong one down', async (t) => {
  const peers = panelFigures(questions(3_000, [0.6, 0.6, 0.6, 0.6, 0.6], 'peers'), [0, 1, 2, 3, 4]);
  t.ok(peers.difference.low > 0.1 && !isBelowItsBest(peers));
  const mixed = panelFigures(questions(3_000, [0.85, 0.3, 0.3, 0.3, 0.3], 'mixed'), [0, 1, 2, 3, 4]);
  t.ok(isBelowItsBest(mixed), `${mixed.difference.mean}`);
  t.ok(mixed.effectiveVotes! > 2.5, 'although they are diverse');
});

t.test(
  'a reading without a known answer beats the plurality of unequal models, and needs questions to learn from',
  async (t) => {
    const right = [0.9, 0.8, 0.45, 0.45, 0.45];
    const panel = [0, 1, 2, 3, 4];
    const figures = readingFigures(halvesOf(questions(3_000, right, 'unequal')), panel, 0)!;
    t.ok(figures.overPlurality.low > 0, `${figures.overPlurality.mean}`);
    t.ok(figures.right.mean > 0.85 && figures.overBestMember.high > 0);
    const alike = readingFigures(halvesOf(questions(3_000, [0.6, 0.6, 0.6], 'alike')), [0, 1, 2], 0)!;
    t.ok(alike.overPlurality.low < 0.01 && alike.overPlurality.high > -0.01, 'nothing to win among equals');
    t.equal(readingFigures(halvesOf(questions(300, right, 'few')), panel, 0), null, '150 questions are too few');
  },
);

t.test('the search finds the peers and leaves the weak out', async (t) => {
  const right = [0.3, 0.72, 0.3, 0.7, 0.7, 0.26];
  const halves = halvesOf(questions(2_000, right, 'search'));
  const panels = choosePanels(halves, [0, 1, 2, 3, 4, 5], [1, 3, 9]);
  t.same(
    panels.map(({ models }) => models.toSorted((a, b) => a - b)),
    [[1], [1, 3, 4]],
    'there is no panel of nine of six models',
  );
  t.equal(panels[1]!.questions, 1_000, 'judged on the other half');
  t.ok(panels[1]!.tiesBroken > panels[0]!.tiesBroken);
});

t.test('no swap improves what was found', async (t) => {
  const right = Array.from({ length: 8 }, (_, i) => 0.4 + 0.04 * i);
  const halves = halvesOf(questions(600, right, 'swap'));
  const [found] = choosePanels(halves, [...right.keys()], [3]);
  const score = (models: readonly number[]) => panelFigures(halves.choosing, models).tiesBroken;
  const swaps = found!.models.flatMap((_, i) =>
    [...right.keys()].filter((model) => !found!.models.includes(model)).map((model) => found!.models.with(i, model)),
  );
  t.ok(swaps.every((models) => score(models) <= score(found!.models) + 1e-12));
});
