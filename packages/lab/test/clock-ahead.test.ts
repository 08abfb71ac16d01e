import t from 'tap';
import { aheadMs } from '../src/faults/clock-ahead.ts';

t.test('the clock of the same machine is not ahead, however late its answers come', async (t) => {
  const late = { asked: 1_000, other: 1_001.5, answered: 1_180 };
  const heardLate = { asked: 2_000, other: 2_160.25, answered: 2_161 };
  for (const looks of [[late], [heardLate], [late, heardLate]]) t.equal(aheadMs(looks), 0);
  t.equal(aheadMs([{ asked: 5, other: 5.9, answered: 5 }]), 0, 'within a millisecond of ours');
});

t.test('another clock is as far ahead as every look allows', async (t) => {
  const looks = [
    { asked: 1_000, other: 1_540, answered: 1_080 },
    { asked: 2_000, other: 2_505, answered: 2_009 },
  ];
  t.equal(aheadMs(looks), 500);
  t.equal(aheadMs(looks.map((look) => ({ ...look, other: look.other - 1_000 }))), -500);
});
