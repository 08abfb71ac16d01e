import fc from '@eloquentpoll/testkit/fast-check';
import t from 'tap';
import { descending, isTie, lead, leader, votesCast, withVotesFor } from '../src/tally.ts';
import { holds } from './holds.ts';

t.test('the option with the most votes leads [§1-fptp]', async (t) => {
  t.equal(leader([1, 3, 2]), 1);
  t.equal(leader([0, 0, 1]), 2);
  t.equal(leader([4, 0]), 0);
  t.equal(lead([1, 3, 2]), 1);
  t.equal(lead([0, 5, 0]), 5);
});

t.test('a tie has no leader, and neither has a poll without votes', async (t) => {
  t.equal(leader([2, 2, 1]), null);
  t.equal(leader([0, 0]), null);
  t.equal(lead([2, 2, 1]), 0);
  t.equal(isTie([2, 2, 1]), true);
  t.equal(isTie([0, 0]), false, 'no vote, no tie');
  t.equal(isTie([2, 1, 1]), false, 'a tie for the second place is none');
});

t.test('counts', async (t) => {
  t.equal(votesCast([1, 3, 2]), 6);
  t.same(descending([1, 3, 2]), [3, 2, 1]);
  t.same(withVotesFor([1, 3, 2], 1, 2), [1, 5, 2]);
});

t.test('tallies of any votes', async (t) => {
  const votes = fc.integer({ min: 2, max: 10 }).chain((options) =>
    fc.record({
      options: fc.constant(options),
      votes: fc.array(fc.nat({ max: options - 1 }), { maxLength: 20 }),
    }),
  );
  holds(
    t,
    'every vote is counted, and the leader is ahead of every other by the lead',
    fc.property(votes, ({ options, votes: cast }) => {
      const votes = new Array<number>(options).fill(0);
      for (const option of cast) votes[option]! += 1;
      const first = leader(votes);
      if (votesCast(votes) !== cast.length) return false;
      if (first === null) return votes.filter((count) => count === Math.max(...votes)).length > 1;
      const others = votes.filter((_, option) => option !== first);
      return others.every((count) => count < votes[first]!) && votes[first]! - Math.max(...others) === lead(votes);
    }),
  );
});
