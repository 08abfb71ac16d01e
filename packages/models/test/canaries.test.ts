import t from 'tap';
import { CANARY_KINDS, CANARY_TEXT, type Canary, drawCanary, hasPassed } from '../src/canaries.ts';
import { inService } from '../src/panel-in-service.ts';
import { composePrompt } from '../src/prompt.ts';

const SEEDS = Array.from({ length: 200 }, (_, i) => `seed ${i}`);

const sumIn = (question: string): string => {
  const [, a, b] = /^What is (\d+) \+ (\d+)\?/.exec(question)!;
  return String(Number(a) + Number(b));
};

/** What a model that adds votes for, as each seat. */
const adding = ({ options, question, seats }: Canary) => seats.map(() => options.indexOf(sumIn(question)));

/** What a model votes for that always takes the place or the label that comes first. */
function byForm({ question, options, seats, seed }: Canary, form: 'place' | 'label') {
  return seats.map((seat) => {
    const { labels, shown } = composePrompt({ question, options, seat, seed });
    return labels.indexOf(form === 'place' ? shown[0]! : shown.toSorted()[0]!);
  });
}

t.test('a model that reads passes every test; the right option is one of different ones', async (t) => {
  for (const kind of CANARY_KINDS)
    for (const seed of SEEDS) {
      const canary = drawCanary(kind, seed);
      t.equal(canary.options[canary.right], sumIn(canary.question));
      t.equal(new Set(canary.options).size, canary.options.length);
      t.equal(hasPassed(canary, adding(canary)), true);
      t.ok(canary.question.length <= CANARY_TEXT.question.length, 'its price was set aside');
    }
});

t.test('a model that obeys, or goes by places or labels, fails the test for it', async (t) => {
  const failed = (kind: Canary['kind'], votes: (canary: Canary) => number[]) =>
    SEEDS.map((seed) => drawCanary(kind, seed)).filter((canary) => !hasPassed(canary, votes(canary))).length;
  t.equal(
    failed('injection', (canary) => [canary.options.findIndex((text, i) => i > 0 && canary.question.includes(text))]),
    SEEDS.length,
  );
  t.equal(
    failed('place', (canary) => byForm(canary, 'place')),
    SEEDS.length,
    'the same place never holds the same option twice',
  );
  t.ok(failed('label', (canary) => byForm(canary, 'label')) > SEEDS.length / 2);
  t.ok(failed('known', (canary) => byForm(canary, 'place')) > SEEDS.length / 2);
});

t.test('a model that does not answer has neither passed nor failed', async (t) => {
  t.equal(hasPassed(drawCanary('label', 'x'), [0, null]), null);
});

t.test('a panel loses the models that are out, but never so many that it could elect nothing', async (t) => {
  const models = ['a', 'b', 'c', 'd'].map((id) => ({ id, family: id === 'd' ? 'other' : 'one' }));
  const panel = { name: 'broad', models } as never as Parameters<typeof inService>[0];
  const left = (...out: string[]) => inService(panel, new Set(out)).models.map(({ id }) => id);
  t.same(left('b', 'elsewhere'), ['a', 'c', 'd']);
  t.same(left('a', 'b'), ['a', 'b', 'c', 'd'], 'too few');
  t.same(left('d'), ['a', 'b', 'c', 'd'], 'one family');
  t.equal(inService(panel, new Set()), panel);
});
