import t from 'tap';
import { winChances } from '../src/urn.ts';

t.test('chances are worked out once for the same counts, whatever the options are called', async (t) => {
  const first = winChances([3, 1, 0], 0, 4);
  winChances([4, 1, 0], 0, 4);
  t.equal(winChances([0, 3, 1], 1, 4), first);
  t.equal(winChances([3, 1, 0], 0, 2), first, 'a shorter list is the beginning of a longer one');
  t.equal(winChances([3, 1, 0], 0, 6).length, 7);
  t.same(winChances([3, 1, 0], 0, 6).slice(0, 5), first);
});

t.test('what is remembered is bounded', async (t) => {
  const first = winChances([2, 1], 0, 1);
  for (let leading = 10; leading < 10_010; leading++) winChances([leading, 0], 0, 0);
  t.not(winChances([2, 1], 0, 1), first, 'forgotten after ten thousand others');
  t.same(winChances([2, 1], 0, 1), first);
});
