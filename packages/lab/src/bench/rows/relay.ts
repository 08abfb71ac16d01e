import type { Bench, Server } from '../bench.ts';
import { info, ms, type Row } from '../bench-row.ts';
import { openEventReader } from '../event-reader.ts';
import { answerReader, connectTo, requestBytes } from '../http-bytes.ts';
import { openedPolls } from '../opened-polls.ts';
import { pollRequest, sampleSnapshot, statusRequests } from '../polls.ts';
import { publishMs } from '../publishes.ts';
import { interleaved, median } from '../windows.ts';

const EACH = 40;

/** Latency of a stream: the first event against a plain GET, both on a new connection; later events against P0. */
export const relay: Row = {
  id: 'relay',
  about: 'first event of a stream against a plain GET; from PUBLISH to the reader against P0',
  async measure(bench, plan) {
    const hello = await bench.hello();
    await using gateway = await bench.gateway();
    const [running] = await openedPolls(bench, 1);
    await bench.stores.bus.runs.open(running!, 1, bench.accountId, sampleSnapshot(running!, 3));
    const [look] = statusRequests(bench, [running!]);
    const found = await interleaved(
      {
        GET: async () => ({ p50: await getMs(hello, requestBytes('GET', '/h')) }),
        status: async () => ({ p50: await getMs(gateway, look!) }),
        first: async () => ({ p50: await firstEventMs(bench, gateway) }),
        P0: async () => ({ p50: await publishMs(bench.stores.redisUrl, 200) }),
        relay: async () => ({ p50: await relayMs(bench, gateway, 200) }),
      },
      plan,
    );
    await bench.forgetPolls();
    const p50 = (name: string): number => found[name]!.p50!;
    return [
      {
        quantity: 'SSE first event p50, its poll accepted and committed',
        ours: ms(p50('first')),
        baseline: `GET H ${ms(p50('GET'))}`,
        value: p50('first') / p50('GET'),
        unit: ' GET',
        better: 'lower',
        must: 3,
        stretch: 1.5,
      },
      info('one status request on a new connection, p50', ms(p50('status')), `GET H ${ms(p50('GET'))}`),
      {
        quantity: 'relay, PUBLISH to reader p50',
        ours: ms(p50('relay')),
        baseline: `P0 ${ms(p50('P0'))}`,
        value: p50('relay') / p50('P0'),
        unit: ' P0',
        better: 'lower',
        must: 2,
        stretch: 1.2,
      },
    ];
  },
};

async function getMs({ port }: Server, bytes: Buffer): Promise<number> {
  const took: number[] = [];
  for (let i = 0; i < EACH; i++) {
    const begun = performance.now();
    const socket = await connectTo(port);
    const read = answerReader(socket);
    socket.write(bytes);
    const status = await read();
    took.push(performance.now() - begun);
    socket.destroy();
    if (status !== 200) throw new Error(`a GET was answered with ${status}`);
  }
  return median(took);
}

async function firstEventMs(bench: Bench, { port }: Server): Promise<number> {
  const took: number[] = [];
  for (let i = 0; i < EACH; i++) {
    const begun = performance.now();
    const stream = await openEventReader(port, pollRequest(bench, '/api/poll/stream'));
    took.push((await stream.reached(1)) - begun);
    stream.close();
  }
  return median(took);
}

async function relayMs(bench: Bench, { port }: Server, times: number): Promise<number> {
  const { bus, query } = bench.stores;
  const stream = await openEventReader(port, pollRequest(bench, '/api/poll/stream'));
  await stream.reached(1);
  const [newest] = await query<{ id: string }>('select id from polls order by created_at desc limit 1');
  const took: number[] = [];
  for (let i = 1; i <= times; i++) {
    const heard = stream.reached(i + 1);
    const begun = performance.now();
    void bus.redis.publish(`${bus.prefix}:{${newest!.id}}`, JSON.stringify(sampleSnapshot(newest!.id, i)));
    took.push((await heard) - begun);
  }
  stream.close();
  return median(took);
}
