import { setTimeout as sleep } from 'node:timers/promises';
import { rssBytes } from '../../fixture/rss-bytes.ts';
import type { Bench, Server } from '../bench.ts';
import type { Row } from '../bench-row.ts';
import { costPerAnswer } from '../cost.ts';
import { type EventReader, openEventReader } from '../event-reader.ts';
import { openedPolls } from '../opened-polls.ts';
import { inTurn, pollRequest, sampleSnapshot, statusRequests } from '../polls.ts';
import { sized } from '../windows.ts';

const STREAMS = 5_000;
const NEWS = 5;
const WARM_MS = 4_000;
const AT_ONCE = 50;
const TIMEOUT_MS = 30_000;

/** Streams on one gateway, each of a different poll: the memory of each, and whether events are lost. */
export const streams: Row = {
  id: 'streams',
  about: `${STREAMS} streams of as many polls on one gateway: memory of each, events lost`,
  async measure(bench, plan) {
    const total = sized(plan, STREAMS);
    await using gateway = await bench.gateway();
    // Warm-up: any load allocates memory for good that is not due to streams, such as compiled code and a young
    // generation of full size.
    const [one] = await openedPolls(bench, 1);
    await costPerAnswer(
      { ...gateway, next: inTurn(statusRequests(bench, [one!])), status: 200 },
      Math.max(50, sized(plan, WARM_MS)),
    );
    await closeAll(await openAll(bench, gateway, Math.min(total, 500), () => {}));
    await sleep(2_000);
    const before = rssBytes(gateway.pid);
    const open = await openAll(bench, gateway, total, (done) => plan.onWindow(done, total, 'streams'));
    // Includes polls of streams that were closed again.
    const polls = await bench.stores.query<{ id: string }>("select id from polls where status = 'running'");
    const { bus } = bench.stores;
    for (let seq = 1; seq <= NEWS; seq++) {
      plan.signal.throwIfAborted();
      await Promise.all(
        polls.map(({ id }) => bus.redis.publish(`${bus.prefix}:{${id}}`, JSON.stringify(sampleSnapshot(id, seq)))),
      );
    }
    const late = sleep(TIMEOUT_MS, null, { ref: false });
    await Promise.race([Promise.allSettled(open.map((stream) => stream.reached(NEWS + 1))), late]);
    const heard = open.reduce((sum, stream) => sum + stream.events, 0);
    await sleep(2_000);
    const each = (rssBytes(gateway.pid) - before) / total / 1_000;
    await closeAll(open);
    await bench.forgetPolls();
    const lost = total * (NEWS + 1) - heard;
    return [
      {
        quantity: 'RSS per open SSE stream',
        ours: `${each.toFixed(1)} kB`,
        baseline: '',
        value: each,
        unit: ' kB',
        better: 'lower',
        must: 20,
        stretch: 12,
      },
      {
        quantity: 'SSE streams held by one gateway, nothing lost',
        ours: `${total}, ${heard} events, ${lost} lost`,
        baseline: '',
        value: lost === 0 ? total : 0,
        unit: '',
        better: 'higher',
        must: Math.min(total, STREAMS),
        stretch: 40_000,
      },
    ];
  },
};

async function openAll(bench: Bench, { port }: Server, count: number, onOpen: (done: number) => void) {
  const open: EventReader[] = [];
  const work = async (): Promise<void> => {
    while (open.length < count) {
      const stream = await openEventReader(port, pollRequest(bench, '/api/poll/stream'));
      open.push(stream);
      await stream.reached(1);
      onOpen(open.length);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  for (const extra of open.splice(count)) extra.close();
  return open;
}

async function closeAll(open: readonly EventReader[]): Promise<void> {
  for (const stream of open) stream.close();
  await sleep(500);
}
