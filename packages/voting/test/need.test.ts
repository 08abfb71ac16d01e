import fc from '@eloquentpoll/testkit/fast-check';
import t from 'tap';
import { confidence, confidenceAmong } from '../src/confidence.ts';
import { isLocked } from '../src/mathematical-lock.ts';
import { clears, need, votesToStop } from '../src/need.ts';
import { lead, votesCast } from '../src/tally.ts';
import { holds } from './holds.ts';

const rates = (remaining: number, phi = 0) => new Array<number>(remaining).fill(phi);
const bar = (threshold: number, minVotes = 1) => ({ threshold, minVotes });

const states = fc.integer({ min: 2, max: 10 }).chain((options) =>
  fc.record({
    votes: fc.array(fc.nat({ max: 3 }), { minLength: options, maxLength: options }),
    left: fc.array(fc.double({ min: 0, max: 0.5, noNaN: true }), { maxLength: 9 }),
    threshold: fc.double({ min: 0, max: 1, noNaN: true }),
    minVotes: fc.integer({ min: 1, max: 6 }),
  }),
);

t.test('need is the smallest number of votes for the leader that clears the bar', async (t) => {
  t.equal(need(bar(1), [0, 0], rates(5)), 3, 'a lock of five takes three');
  t.equal(need(bar(1), [2, 0], rates(3)), 1);
  t.equal(need(bar(1), [1, 1], rates(3)), 2);
  t.equal(need(bar(1), [2, 2, 0], rates(1)), 1, 'the last vote breaks the tie');
  t.equal(need(bar(15 / 16 - 1e-9), [0, 2], rates(2)), 0);
  t.equal(need(bar(15 / 16 + 1e-9), [0, 2], rates(2)), 1);
  t.equal(need(bar(0.95), [1, 0, 2], rates(0)), 0);
  holds(
    t,
    'with need more votes it is cleared, or the panel is used up; with fewer it is not',
    fc.property(states, ({ votes, left, threshold, minVotes }) => {
      const favourite = votes.indexOf(Math.max(...votes));
      const clearedBy = (more: number) => {
        const then = votes.with(favourite, votes[favourite]! + more);
        const reached = confidenceAmong(then, left.slice(more));
        return reached !== null && reached >= threshold && votesCast(then) >= minVotes;
      };
      const needed = need({ threshold, minVotes }, votes, left);
      const fewer = Array.from({ length: needed }, (_, more) => more);
      return needed <= left.length && (needed === left.length || clearedBy(needed)) && !fewer.some(clearedBy);
    }),
  );
});

t.test('the first models left are the ones whose votes are needed', async (t) => {
  // One vote later either one model that votes is left, who may tie, or two of them, who hardly both disagree.
  t.equal(need(bar(0.8), [0, 0], [0, 0, 1]), 2);
  t.equal(need(bar(0.8), [0, 0], [1, 0, 0]), 1);
});

t.test('a guard of valid votes counts into the need', async (t) => {
  t.equal(need(bar(0.5, 3), [1, 0], rates(6)), 2);
  t.equal(need(bar(0.5, 1), [1, 0], rates(6)), 0);
  t.equal(need(bar(0, 3), [1, 1], rates(6)), 1);
  t.equal(need(bar(0.5, 20), [1, 0], rates(6)), 6, 'never more than there are');
});

t.test('a lock stops a poll with fewer votes than confidence may need', async (t) => {
  t.equal(votesToStop(bar(0.95, 3), [0, 0], rates(3)), 2, 'two of three that agree');
  t.equal(votesToStop(bar(0.95, 3), [1, 0], rates(2)), 1);
  t.equal(votesToStop(bar(0.95, 3), [1, 1], rates(1)), 1);
  t.equal(votesToStop(bar(0.95, 3), [2, 0], rates(1)), 0, 'it is locked');
  t.equal(votesToStop(bar(0.5, 1), [1, 0], rates(6)), 0, 'confidence is enough');
  holds(
    t,
    'it is the smallest number of votes for the leader that stops the poll, or the whole panel',
    fc.property(states, ({ votes, left, threshold, minVotes }) => {
      const favourite = votes.indexOf(Math.max(...votes));
      const stoppedBy = (more: number) => {
        const then = votes.with(favourite, votes[favourite]! + more);
        const rest = left.slice(more);
        return isLocked(then, rest.length) || clears({ threshold, minVotes }, then, rest);
      };
      const needed = votesToStop({ threshold, minVotes }, votes, left);
      const fewer = Array.from({ length: needed }, (_, more) => more);
      return needed <= left.length && (needed === left.length || stoppedBy(needed)) && !fewer.some(stoppedBy);
    }),
  );
});

t.test('a higher bar never lowers the need', async (t) => {
  holds(
    t,
    'threshold and valid votes',
    fc.property(states, fc.double({ min: 0, max: 1, noNaN: true }), ({ votes, left, threshold, minVotes }, other) => {
      const [low, high] = [Math.min(threshold, other), Math.max(threshold, other)];
      return (
        need({ threshold: low, minVotes }, votes, left) <= need({ threshold: high, minVotes }, votes, left) &&
        need({ threshold, minVotes }, votes, left) <= need({ threshold, minVotes: minVotes + 1 }, votes, left)
      );
    }),
  );
});

t.test('at threshold 1 the need is the distance to a lock', async (t) => {
  holds(
    t,
    'lead + j > remaining - j',
    fc.property(states, ({ votes, left }) => {
      let more = 0;
      while (lead(votes) + more <= left.length - more) more += 1;
      return need(bar(1), votes, left) === Math.min(left.length, more);
    }),
  );
});

t.test('the bar is reached by its exact value', async (t) => {
  const reached = confidence([2, 1, 0], 4)!;
  t.equal(clears(bar(reached), [2, 1, 0], rates(4)), true);
  t.equal(clears(bar(reached + 1e-9), [2, 1, 0], rates(4)), false);
  t.equal(clears(bar(0), [1, 1], rates(4)), false, 'a tie clears nothing');
  t.equal(clears(bar(0, 3), [2, 0], rates(4)), false);
  t.equal(clears(bar(0, 2), [2, 0], rates(4)), true);
});
