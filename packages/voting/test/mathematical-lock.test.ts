import t from 'tap';
import { isLocked } from '../src/mathematical-lock.ts';
import { countsUpTo } from './oracle.ts';

t.test(
  'a lock is what no completion can undo: up to 8 models and 4 options, exhaustively [§1-reason-mathematical-lock]',
  async (t) => {
    const wrong: string[] = [];
    let states = 0;
    for (const options of [2, 3, 4]) {
      for (const votes of countsUpTo(options, 8)) {
        const cast = votes.reduce((sum, count) => sum + count, 0);
        for (let remaining = 0; remaining <= 8 - cast; remaining++) {
          states += 1;
          if (isLocked(votes, remaining) !== nothingChangesTheWinner(votes, remaining))
            wrong.push(`${votes} + ${remaining}`);
        }
      }
    }
    t.same(wrong, []);
    t.equal(states, 165 + 495 + 1_287, 'every state was tried');
  },
);

/** Models may also fail, so fewer votes than `remaining` may come. */
function nothingChangesTheWinner(votes: readonly number[], remaining: number): boolean {
  const winners = countsUpTo(votes.length, remaining).map((more) =>
    uniqueWinner(votes.map((count, k) => count + more[k]!)),
  );
  return winners[0] !== null && winners.every((winner) => winner === winners[0]);
}

function uniqueWinner(votes: readonly number[]): number | null {
  const best = Math.max(...votes);
  const winners = votes.flatMap((count, option) => (count === best ? [option] : []));
  return winners.length === 1 ? winners[0]! : null;
}

t.test('a lead as large as the rest is no lock: the runner-up can still tie', async (t) => {
  t.equal(isLocked([3, 1], 2), false);
  t.equal(isLocked([3, 1], 1), true);
  t.equal(isLocked([2, 2], 0), false);
  t.equal(isLocked([0, 0], 0), false);
  t.equal(isLocked([1, 0], 0), true);
});
