import t from 'tap';
import { conclude } from '../src/conclude.ts';
import { reasoning } from '../src/reasoning.ts';
import { pollAfter, seatsOf } from './make-poll.ts';

const after = (votes: readonly (number | null)[]) =>
  reasoning(conclude(pollAfter(votes, seatsOf(votes.length)), { reason: 'roster_exhausted' }));

t.test('the reasoning of a quick poll [§4.1-rule-reasoning]', async (t) => {
  t.equal(after([0, 0, 1, 0, 0, 0]), '83% confidence after 6 variants');
  t.equal(after([2, 2, null, 2]), '100% confidence after 3 variants', 'a model that failed is no variant');
  t.equal(after([0, 1, null, 1, 0]), 'No winner: tie at 50% after 4 variants');
  t.equal(after([0, 1, 2]), 'No winner: tie at 33% after 3 variants');
  t.equal(after([null, null, null, null, null]), 'No successful votes from 5 variants');
  t.equal(after([1]), '100% confidence after 1 variant');
  t.equal(after([0, 0, 1]), '67% confidence after 3 variants', 'rounded');
});
