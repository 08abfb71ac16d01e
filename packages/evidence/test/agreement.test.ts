import t from 'tap';
import { agreementMatrix, effectiveVotes, errorCorrelations } from '../src/agreement.ts';

const questions = (votes: readonly (readonly (number | null | undefined)[])[], optionCount = 2) =>
  votes.map((votes) => ({ optionCount, votes, answer: 0 }));

t.test('agreement beyond chance', async (t) => {
  // The first two always agree, the third agrees half of the time, as often as by guessing.
  const matrix = agreementMatrix(
    questions([
      [0, 0, 0],
      [1, 1, 0],
      [0, 0, 1],
      [1, 1, 1],
    ]),
    3,
  );
  t.same(matrix, [
    [1, 1, 0],
    [1, 1, 0],
    [0, 0, 1],
  ]);
  const four = agreementMatrix(
    questions(
      [
        [0, 0],
        [1, 2],
        [3, 3],
      ],
      4,
    ),
    2,
  );
  t.ok(Math.abs(four[0]![1]! - (2 - 0.75) / (3 - 0.75)) < 1e-12);
  t.same(
    agreementMatrix(
      questions([
        [0, null],
        [undefined, 1],
      ]),
      2,
    )[0]![1],
    null,
    'never on the same question',
  );
});

t.test('errors that go together', async (t) => {
  const together = errorCorrelations(
    questions([
      [0, 0],
      [1, 1],
      [0, 0],
      [1, 1],
    ]),
    2,
  );
  t.equal(together[0]![1], 1);
  const apart = errorCorrelations(
    questions([
      [0, 1],
      [1, 0],
    ]),
    2,
  );
  t.equal(apart[0]![1], -1);
  t.equal(
    errorCorrelations(
      questions([
        [0, 1],
        [0, 0],
      ]),
      2,
    )[0]![1],
    null,
    'one is never wrong',
  );
});

t.test('how many voices that are', async (t) => {
  const alike = (models: number, agreement: number | null) =>
    Array.from({ length: models }, (_, a) => Array.from({ length: models }, (_, b) => (a === b ? 1 : agreement)));
  t.equal(effectiveVotes(alike(9, 1)), 1, 'nine that always agree');
  t.equal(effectiveVotes(alike(9, 0)), 9);
  t.equal(effectiveVotes(alike(9, -0.3)), 9, 'never more than there are');
  t.ok(Math.abs(effectiveVotes(alike(9, 0.0913))! - 5.2) < 0.01, 'nine that count like 5.2');
  t.equal(effectiveVotes(alike(9, null)), null);
  t.equal(effectiveVotes([[1]]), 1);
  t.equal(effectiveVotes([]), null);
});
