import t from 'tap';
import { bandOf, changeBySwitching } from '../../src/verdict/agreement.ts';
import { dollars, failuresByCause, listed, percentOf } from '../../src/verdict/words.ts';

t.test('bands of agreement by margin', async (t) => {
  t.equal(bandOf([]), null);
  t.equal(bandOf([1, 0]), null, 'one vote agrees with none');
  t.equal(bandOf([2, 0]), 'unanimous');
  t.equal(bandOf([2, 2, 1]), 'tied');
  t.equal(bandOf([5, 4]), 'split');
  t.equal(bandOf([5, 3]), 'split', 'one switched vote makes it a tie');
  t.equal(bandOf([5, 2, 2]), 'clear');
  t.equal(bandOf([6, 3]), 'clear');
  t.equal(bandOf([7, 2]), 'broad');
  t.equal(bandOf([6, 2]), 'clear', 'a lead of exactly half');
});

t.test('what switched votes do', async (t) => {
  t.equal(changeBySwitching([5, 4]), 'One switched vote would change the winner.');
  t.equal(changeBySwitching([5, 3]), 'One switched vote would make it a tie.');
  t.equal(changeBySwitching([6, 3]), 'It would take 2 switched votes to change the winner.');
  t.equal(changeBySwitching([6, 2]), 'It would take 2 switched votes to make it a tie.');
  t.equal(changeBySwitching([2, 2]), null);
  for (let ahead = 1; ahead <= 12; ahead++) {
    const needed = Number(/take (\d+)/.exec(changeBySwitching([12 + ahead, 12])!)?.[1] ?? 1);
    t.ok(12 + ahead - needed <= 12 + needed && 12 + ahead - (needed - 1) > 12 + needed - 1, `lead ${ahead}`);
  }
});

t.test('percentages are rounded down and are never certain', async (t) => {
  t.same([0.98, 0.989, 1 - 1e-12, 0.009, 0, 0.5].map(percentOf), ['98%', '98%', '99%', 'under 1%', '0%', '50%']);
  t.same([null, Number.NaN, -0.1, 1.1].map(percentOf), [null, null, null, null]);
  t.equal(percentOf(0.29), '29%', 'not a matter of binary fractions');
});

t.test('dollars', async (t) => {
  t.same([0, 0.002, 0.0021, 0.005, 0.06, 0.1, 0.999, 1, 12.345].map(dollars), [
    '$0',
    '$0.002',
    '$0.0021',
    '$0.005',
    '$0.06',
    '$0.1',
    '$1',
    '$1.00',
    '$12.35',
  ]);
});

t.test('lists and causes', async (t) => {
  t.equal(listed(['a']).join(''), 'a');
  t.equal(listed(['a', 'b']).join(''), 'a and b');
  t.equal(listed(['a', 'b', 'c']).join(''), 'a, b and c');
  t.equal(
    failuresByCause(['timeout', 'refusal', 'timeout', 'constructor', 'rate_limited', 'aborted']),
    '2 timed out, 1 refused, 1 rate-limited, 1 canceled, 1 gave no vote',
  );
});
