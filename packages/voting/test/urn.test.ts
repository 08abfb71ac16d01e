import t from 'tap';
import { winChances } from '../src/urn.ts';

// The counts are larger than those of any panel: other tests may have run in this process before, and what they asked
// for is remembered.

t.test('chances are worked out once for the same counts, whatever the options are called', async (t) => {
  const first = winChances([303, 301, 0], 0, 4);
  winChances([304, 301, 0], 0, 4);
  t.equal(winChances([0, 303, 301], 1, 4), first);
  t.equal(winChances([303, 301, 0], 0, 2), first, 'a shorter list is the beginning of a longer one');
  t.equal(winChances([303, 301, 0], 0, 6).length, 7);
  t.same(winChances([303, 301, 0], 0, 6).slice(0, 5), first);
});

t.test('what is remembered is bounded', async (t) => {
  const first = winChances([302, 301], 0, 1);
  for (let leading = 400; leading < 10_400; leading++) winChances([leading, 0], 0, 0);
  t.not(winChances([302, 301], 0, 1), first, 'forgotten after ten thousand others');
  t.same(winChances([302, 301], 0, 1), first);
});
