import { setTimeout as sleep } from 'node:timers/promises';
import type { Bench } from '../bench.ts';
import { ms, type Row } from '../bench-row.ts';
import { acceptOne } from '../opened-polls.ts';
import { publishMs } from '../publishes.ts';
import { interleaved, median } from '../windows.ts';

const EACH = 30;
const TIMEOUT_MS = 10_000;

/** From queueing a poll to its first model call, in two processes: by a clock that all processes of a machine share. */
export const queue: Row = {
  id: 'queue',
  about: 'from enqueueing to the first model call against PUBLISH to message (P0)',
  async measure(bench, plan) {
    await using _worker = await bench.worker();
    await firstCalls(bench, EACH);
    const found = await interleaved(
      {
        P0: async () => ({ p50: await publishMs(bench.stores.redisUrl, 200) }),
        first: async () => ({ p50: median(await firstCalls(bench, EACH)) }),
      },
      plan,
    );
    const [p0, first] = [found.P0!.p50!, found.first!.p50!];
    return [
      {
        quantity: 'enqueue to first model call p50',
        ours: ms(first),
        baseline: `P0 ${ms(p0)}`,
        value: first / p0,
        unit: ' P0',
        better: 'lower',
        must: 8,
        stretch: 3,
      },
    ];
  },
};

async function firstCalls(bench: Bench, times: number): Promise<number[]> {
  const { port } = await bench.models();
  const took: number[] = [];
  for (let i = 0; i < times; i++) {
    const id = await acceptOne(bench);
    const begun = Number(process.hrtime.bigint()) / 1e6;
    await bench.stores.bus.enqueuePoll(id);
    took.push((await askedAt(port, id)) - begun);
  }
  await fetch(`http://127.0.0.1:${port}/`, { method: 'DELETE' });
  return took;
}

async function askedAt(port: number, pollId: string): Promise<number> {
  const until = performance.now() + TIMEOUT_MS;
  while (performance.now() < until) {
    await sleep(25);
    const asked = (await (await fetch(`http://127.0.0.1:${port}/asked`)).json()) as Record<string, number>;
    const at = asked[pollId];
    if (at !== undefined) return at;
  }
  throw new Error('a poll was never asked about');
}
