import t from 'tap';
import { modelOf } from '../src/traits.ts';
import { vote } from '../src/vote.ts';
import { COLOURS, choice, type Printed, start } from './start.ts';

// slow: 3 s

// Opinions belong to the seed, the question and the texts of the options: to nothing else.

const MODELS = ['sim/oak-1', 'sim/elm-2', 'sim/fir-3', 'sim/ash-4', 'sim/yew-5', 'sim/bay-6', 'sim/fig-7'];
const QUESTIONS = Array.from({ length: 12 }, (_, index) => `Which colour suits room number ${index}?`);

async function votesOf(t: Parameters<typeof start>[0], seed: string, options: Printed = COLOURS) {
  const running = await start(t, { seed });
  const asked = QUESTIONS.flatMap((question) => MODELS.map((model) => choice(running, model, question, options)));
  return Promise.all(asked);
}

t.test('[§I2-same-seed-same-votes] the same seed gives the same votes in another simulator', async (t) => {
  const first = await votesOf(t, 'alpha');
  t.same(await votesOf(t, 'alpha'), first);
  t.notSame(await votesOf(t, 'beta'), first, 'another seed gives other votes');
  t.equal(new Set(first).size, 3, 'and not everybody votes the same');
});

t.test('[§I2-same-seed-same-votes] labels and order of the options do not matter', async (t) => {
  const printed = await votesOf(t, 'alpha');
  const otherwise: Printed = [
    ['KM', 'Green'],
    ['TX', 'Red'],
    ['PW', 'Blue'],
  ];
  t.same(await votesOf(t, 'alpha', otherwise), printed);
});

t.test('the same seed can be set while running', async (t) => {
  const running = await start(t, { seed: 'alpha' });
  const ask = () => Promise.all(QUESTIONS.map((question) => choice(running, MODELS[0]!, question)));
  const before = await ask();
  await running.control('POST', 'settings', { seed: 'gamma' });
  t.notSame(await ask(), before);
  await running.control('POST', 'reset');
  t.same(await ask(), before);
});

/** Share of pairs of models that agree, over many questions. */
function pairwise(n: number, behaviour: Parameters<typeof modelOf>[1][number]): number {
  const options = Array.from({ length: n }, (_, index) => ({ label: `L${index}`, text: `option ${index}` }));
  const models = MODELS.map((id) => modelOf(id, [behaviour]));
  let agreeing = 0;
  let pairs = 0;
  for (let index = 0; index < 600; index += 1) {
    const paper = { question: `question ${index}`, options };
    const votes = models.map((model) => vote(paper, model, 'seed', null)!.label);
    for (const [i, one] of votes.entries())
      for (const other of votes.slice(i + 1)) {
        pairs += 1;
        if (one === other) agreeing += 1;
      }
  }
  return agreeing / pairs;
}

t.test('agreement sets how often two models agree, for any number of options', async (t) => {
  for (const n of [2, 6])
    for (const agreement of [0, 0.3, 0.7, 1]) {
      const expected = 1 / n + agreement * (1 - 1 / n);
      const measured = pairwise(n, { agreement });
      t.ok(
        Math.abs(measured - expected) < 0.04,
        `${n} options, agreement ${agreement}: ${measured.toFixed(3)}, expected ${expected.toFixed(3)}`,
      );
    }
});

t.test('temperature and skill move a model away from the common opinion', async (t) => {
  t.equal(pairwise(4, { agreement: 0.3, temperature: 0 }), 1, 'without noise all see the same favourite');
  const guessing = pairwise(4, { agreement: 1, skill: 0 });
  t.ok(Math.abs(guessing - 0.25) < 0.03, `without skill they guess: ${guessing}`);
  const half = pairwise(4, { agreement: 1, skill: 0.5 });
  t.ok(half > guessing + 0.1 && half < 0.9, `with half the skill they agree now and then: ${half}`);
});

t.test('no option is favoured for its place, label or text', async (t) => {
  const counts = new Map<string, number>();
  for (let index = 0; index < 2000; index += 1) {
    const options = COLOURS.map(([label, text]) => ({ label, text }));
    const won = vote({ question: `q${index}`, options }, modelOf('sim/oak', []), 's', null)!.text;
    counts.set(won, (counts.get(won) ?? 0) + 1);
  }
  for (const [text, count] of counts) t.ok(Math.abs(count / 2000 - 1 / 3) < 0.04, `${text}: ${count} of 2000`);
});
