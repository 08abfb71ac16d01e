import t from 'tap';
import { msToWait } from '../src/calendar.ts';

t.test('a test waits for the next hour or day only in the last minute of this one', async (t) => {
  for (const [at, hour, day] of [
    ['2026-11-23T00:00:00.000Z', 0, 0],
    ['2026-11-23T09:59:00.000Z', 0, 0],
    ['2026-11-23T09:59:00.001Z', 60_049, 0],
    ['2026-11-23T23:59:00.001Z', 60_049, 60_049],
    ['2028-02-28T23:59:59.999Z', 51, 51],
  ] as const)
    t.same([msToWait('hour', Date.parse(at)), msToWait('day', Date.parse(at))], [hour, day], at);
});
