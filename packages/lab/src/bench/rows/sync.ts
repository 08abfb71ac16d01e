import { ms, type Row } from '../bench-row.ts';
import { oneAtATime } from '../one-at-a-time.ts';
import { interleaved, median, sized } from '../windows.ts';

const EACH = 40;

/** The time that a poll adds to its model calls, one poll at a time: seven instant calls, raw and as a poll. */
export const sync: Row = {
  id: 'sync',
  about: 'a synchronous poll of seven models against seven raw calls at once (U7)',
  async measure(bench, plan) {
    const each = sized(plan, EACH);
    await using gateway = await bench.gateway();
    await using _worker = await bench.worker();
    using polls = await oneAtATime(bench, gateway);
    await polls.poll(each);
    const found = await interleaved(
      {
        U7: () => bench.calls(`/u7?n=${each}`),
        poll: async () => ({ p50: median(await polls.poll(each)) }),
      },
      plan,
    );
    const [u7, ours] = [found.U7!.p50!, found.poll!.p50!];
    return [
      {
        quantity: 'sync poll overhead p50, one at a time',
        ours: ms(ours),
        baseline: `U7 ${ms(u7)}`,
        value: ours / u7,
        unit: ' U7',
        better: 'lower',
        must: 3,
        stretch: 1.5,
      },
    ];
  },
};
