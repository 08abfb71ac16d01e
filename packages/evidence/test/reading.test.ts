import fc from '@eloquentpoll/testkit/fast-check';
import { seededRandom } from '@eloquentpoll/voting';
import t from 'tap';
import { agreementMatrix, effectiveVotes } from '../src/agreement.ts';
import { learnReliabilities, MIN_QUESTIONS, type Reliabilities, readingOf } from '../src/reading.ts';
import type { AnsweredQuestion, VotedQuestion } from '../src/voted-question.ts';
import { holds } from './holds.ts';

const MODELS = ['strong', 'good', 'fair', 'weak', 'guess'];
const RIGHT = [0.9, 0.75, 0.6, 0.45, 0.25];

/** Models that err independently, each as often as it does. */
function questions(count: number, seed: string, withAnswer = false): AnsweredQuestion[] | VotedQuestion[] {
  const draw = seededRandom(seed);
  return Array.from({ length: count }, () => {
    const answer = draw(4);
    const votes = RIGHT.map((right) => (draw(1_000) < 1_000 * right ? answer : (answer + 1 + draw(3)) % 4));
    return { optionCount: 4, votes, ...(withAnswer && { answer }) };
  });
}

t.test('reliabilities without a single known answer', async (t) => {
  const { models, version } = learnReliabilities('day 1', MODELS, questions(3_000, 'live'))!;
  t.equal(version, 'day 1');
  for (const [i, name] of MODELS.entries()) {
    const { right, votes } = models.get(name)!;
    t.ok(Math.abs(right - RIGHT[i]!) < 0.05, `${name}: ${right}`);
    t.equal(votes, 3_000);
  }
});

t.test('known answers are used where there are some', async (t) => {
  // Three models that copy each other's errors look reliable to each other; answers show that they are not.
  const draw = seededRandom('copies');
  const copied = Array.from({ length: 400 }, () => {
    const answer = draw(4);
    const herd = draw(10) < 3 ? answer : (answer + 1) % 4;
    return { optionCount: 4, votes: [herd, herd, herd, draw(10) < 8 ? answer : (answer + 2) % 4], answer };
  });
  const names = ['a', 'b', 'c', 'alone'];
  const blind = learnReliabilities(
    '1',
    names,
    copied.map(({ answer: _, ...question }) => question),
  )!;
  const taught = learnReliabilities('1', names, copied)!;
  t.ok(blind.models.get('a')!.right > blind.models.get('alone')!.right);
  t.ok(Math.abs(taught.models.get('a')!.right - 0.3) < 0.07);
  t.ok(taught.models.get('alone')!.right > 0.7);
});

t.test('an option that an owner rejected counts for none of those who voted for it', async (t) => {
  // Five models agree, but their owners say of most of these answers that they are wrong.
  const draw = seededRandom('rejected');
  const said = Array.from({ length: 600 }, () => {
    const answer = draw(4);
    const isRight = draw(10) < 3;
    const herd = isRight ? answer : (answer + 1) % 4;
    const alone = draw(10) < 8 ? answer : (answer + 2) % 4;
    return { optionCount: 4, votes: [herd, herd, herd, alone], ...(!isRight && { rejected: herd }) };
  });
  const names = ['a', 'b', 'c', 'alone'];
  const blind = learnReliabilities(
    '1',
    names,
    said.map(({ rejected: _, ...question }) => question),
  )!;
  const taught = learnReliabilities('1', names, said)!;
  t.ok(blind.models.get('a')!.right > 0.9, `${blind.models.get('a')!.right}`);
  t.ok(taught.models.get('a')!.right < 0.45, `${taught.models.get('a')!.right}`);
  t.ok(taught.models.get('alone')!.right > blind.models.get('alone')!.right);
});

t.test('absent until there is enough', async (t) => {
  t.equal(learnReliabilities('1', MODELS, questions(MIN_QUESTIONS - 1, 'few')), null);
  t.equal(
    learnReliabilities(
      '1',
      MODELS,
      Array.from({ length: 900 }, () => ({ optionCount: 4, votes: [0, null, null] })),
    ),
    null,
    'single voices say nothing about each other',
  );
  const rare = questions(300, 'rare').map((question, i) => ({
    ...question,
    votes: question.votes.map((vote, model) => (model === 0 && i >= 40 ? undefined : vote)),
  }));
  const learned = learnReliabilities('1', MODELS, rare)!;
  t.same([...learned.models.keys()], MODELS.slice(1), 'a model with 40 votes is left out');
  t.equal(readingOf(learned, 4, [{ model: 'strong', option: 0 }]), null, 'and so is every reading that needs it');
});

const known: Reliabilities = {
  version: 'v',
  models: new Map(MODELS.map((model, i) => [model, { right: RIGHT[i]!, votes: 100 }])),
};
const votes = (...options: (number | null)[]) => options.map((option, i) => ({ model: MODELS[i]!, option }));

t.test('a reading leans in ties, and may differ from the plurality', async (t) => {
  const tie = readingOf(known, 4, votes(0, null, null, 1))!;
  t.match(tie, { winner: 0, differs: true, version: 'v' });
  const outvoted = readingOf(known, 4, votes(0, null, null, 1, 1))!;
  t.match(outvoted, { winner: 0, differs: true });
  t.match(readingOf(known, 4, votes(2, 2, 1))!, { winner: 2, differs: false });
  t.equal(readingOf(known, 4, votes(null, null)), null, 'no vote');
  t.equal(readingOf(known, 4, [{ model: 'new', option: 1 }]), null, 'a model without a reliability');
  t.match(readingOf(known, 4, [{ model: 'guess', option: 1 }])!, { winner: null }, 'a guess is no evidence');
});

t.test('the odds are those of Bayes for models that err independently', async (t) => {
  const { odds } = readingOf(known, 4, votes(0, 1, 1))!;
  const likelihood = [0, 1, 2, 3].map((truth) =>
    [0, 1, 1].reduce((product, vote, i) => product * (vote === truth ? RIGHT[i]! : (1 - RIGHT[i]!) / 3), 1),
  );
  const sum = likelihood.reduce((total, value) => total + value, 0);
  t.ok(odds.every((chance, option) => Math.abs(chance - likelihood[option]! / sum) < 1e-12));
});

t.test('votes that are worth fewer independent ones say less, and prefer the same option', async (t) => {
  const cast = votes(0, 0, 0, 1, 1);
  const [full, alike, one] = [5, 2, 1].map((worth) => readingOf(known, 4, cast, worth)!);
  t.ok(Math.abs(full!.likelihood! - full!.odds[0]!) < 1e-12, 'of independent models it is the odds');
  t.ok(full!.likelihood! > 0.9 && alike!.likelihood! < 0.9 && one!.likelihood! < alike!.likelihood!);
  t.same(
    [full, alike, one].map((reading) => reading!.winner),
    [0, 0, 0],
  );
  t.equal(readingOf(known, 4, cast)!.likelihood, null, 'unknown');
  t.equal(readingOf(known, 4, votes(null, null, null, 1), 1)!.likelihood!.toFixed(6), '0.450000');
});

t.test(
  'where models err alike, the likelihood comes true about as often as it says, and the odds do not',
  async (t) => {
    // Some questions are hard for all, and most models that err choose the same wrong option.
    const draw = seededRandom('alike');
    const asked = Array.from({ length: 3_000 }, () => {
      const answer = draw(4);
      const right = [95, 70, 35][draw(3)]!;
      const vote = () => (draw(100) < right ? answer : (answer + (draw(4) ? 1 : 1 + draw(3))) % 4);
      return { optionCount: 4, votes: MODELS.map(vote), answer };
    });
    const learned = learnReliabilities(
      '1',
      MODELS,
      asked.map(({ answer: _, ...question }) => question),
    )!;
    const worth = effectiveVotes(agreementMatrix(asked, MODELS.length));
    let [polls, right, likelihood, odds] = [0, 0, 0, 0];
    for (const { votes, answer } of asked) {
      const reading = readingOf(
        learned,
        4,
        votes.map((option, i) => ({ model: MODELS[i]!, option })),
        worth,
      )!;
      if (reading.winner === null) continue;
      polls += 1;
      right += Number(reading.winner === answer);
      likelihood += reading.likelihood!;
      odds += reading.odds[reading.winner]!;
    }
    const off = (sum: number) => Math.abs(sum - right) / polls;
    t.ok(off(odds) > 0.1 && off(likelihood) < 0.05, `${polls}: right ${right}, likelihood ${likelihood}, odds ${odds}`);
  },
);

t.test('readings of any votes', async (t) => {
  holds(
    t,
    'sum to 1 and do not depend on the order of the votes',
    fc.property(fc.array(fc.option(fc.nat({ max: 3 })), { minLength: 5, maxLength: 5 }), (options) => {
      const cast = votes(...options);
      const [one, other] = [readingOf(known, 4, cast), readingOf(known, 4, cast.toReversed())];
      if (one === null) return other === null;
      const sum = one.odds.reduce((total, chance) => total + chance, 0);
      return Math.abs(sum - 1) < 1e-9 && one.winner === other!.winner && one.differs === other!.differs;
    }),
  );
});
