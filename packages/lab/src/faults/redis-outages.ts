import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { openBus } from '@eloquentpoll/bus';
import { type FaultProxy, openFaultProxy } from '../proxy/fault-proxy.ts';
import { CALM } from '../proxy/weather.ts';
import { type Chance, chance } from '../terminal/chance.ts';
import type { Progress } from '../terminal/progress.ts';
import { percentile, seconds, table } from '../terminal/table.ts';

// Consumers of the queue whose Redis goes away for a while, each in its own way and time, and is back: from then on a
// job must be taken without anybody's help. The consumers are the product's own; nothing sweeps here.

const WAYS = ['refuses', 'hangs', 'forgets'] as const;
/** Refuses and resets; holds everything back; is gone without a word on the connections that stood, and takes new ones. */
export type Way = (typeof WAYS)[number];

export interface Outage {
  way: Way;
  busy: boolean;
  lastedMs: number;
  /** Until the first job after the outage was taken; null: not within the time. */
  resumedMs: number | null;
}

export interface OutageSettings {
  redisUrl: string;
  seed: string;
  outages: number;
  consumers: number;
  lastsMs: readonly [number, number];
  ways?: readonly Way[];
  signal: AbortSignal;
}

/** A consumer that nothing was said to for this long looks after its connections itself. */
const STUCK_AFTER_MS = 60_000;
const BUSY_EVERY_MS = 100;

export async function redisOutages(settings: OutageSettings, progress: Progress): Promise<Outage[]> {
  const seen: Outage[] = [];
  let begun = 0;
  await Promise.all(
    Array.from({ length: settings.consumers }, async (_, i) => {
      const draw = chance(`${settings.seed}|consumer ${i}`);
      await using consumer = await openConsumer(settings.redisUrl, `lab${randomBytes(6).toString('hex')}`);
      while (begun < settings.outages) {
        begun += 1;
        seen.push(await oneOutage(consumer, draw, settings));
        progress.show(`${seen.length} of ${settings.outages} outages, ${stuck(seen)} consumers stuck`);
      }
    }),
  );
  progress.end();
  return seen;
}

interface Consumer extends AsyncDisposable {
  link: FaultProxy;
  ask(job: string): Promise<void>;
  taken(job: string): Promise<void>;
}

async function openConsumer(redisUrl: string, prefix: string): Promise<Consumer> {
  await using opened = new AsyncDisposableStack();
  const { hostname, port } = new URL(redisUrl);
  const link = opened.use(await openFaultProxy(prefix, { host: hostname, port: Number(port) }));
  const through = new URL(redisUrl);
  through.port = String(link.port);
  const direct = opened.use(await openBus({ redisUrl, prefix }));
  opened.defer(() => removeKeys(direct.redis, prefix));
  const bus = opened.use(await openBus({ redisUrl: through.href, prefix }));
  const waiting = new Map<string, PromiseWithResolvers<void>>();
  const jobs = bus.consumePolls({ concurrency: 4, run: async (job) => waiting.get(job)?.resolve() });
  opened.defer(() => jobs.drain(1_000));
  await jobs.ready();
  opened.defer(() => allConnected(link));
  const owned = opened.move();
  return {
    link,
    async ask(job) {
      waiting.set(job, Promise.withResolvers());
      await direct.enqueuePoll(job);
    },
    async taken(job) {
      await waiting.get(job)!.promise;
      waiting.delete(job);
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

async function oneOutage(consumer: Consumer, draw: Chance, settings: OutageSettings): Promise<Outage> {
  const { link } = consumer;
  const name = `job-${draw.whole(0, 1e9)}`;
  await consumer.ask(`${name}-before`);
  await consumer.taken(`${name}-before`);
  const way = draw.pick(settings.ways ?? WAYS);
  const busy = draw.happens(0.5);
  const lastedMs = draw.whole(...settings.lastsMs);
  const over = new AbortController();
  const asking = busy ? keepAsking(consumer, name, over.signal) : null;
  begin(link, way);
  await sleep(lastedMs, undefined, { signal: settings.signal }).catch(() => undefined);
  over.abort();
  await asking;
  link.set(CALM);
  const back = performance.now();
  await consumer.ask(`${name}-after`);
  const late = new AbortController();
  const resumed = await Promise.race([
    consumer.taken(`${name}-after`).then(() => true),
    sleep(STUCK_AFTER_MS, false, { signal: AbortSignal.any([late.signal, settings.signal]) }).catch(() => false),
  ]);
  late.abort();
  // Whoever is stuck gets a new connection, so that the next outage finds it at work.
  if (!resumed) link.reset();
  return { way, busy, lastedMs, resumedMs: resumed ? performance.now() - back : null };
}

function begin(link: FaultProxy, way: Way): void {
  if (way === 'hangs') link.set({ blackhole: true });
  if (way === 'refuses') link.set({ refuse: true });
  if (way === 'refuses') link.reset();
  if (way === 'forgets') link.halfOpen();
}

async function keepAsking(consumer: Consumer, name: string, signal: AbortSignal): Promise<void> {
  for (let i = 0; !signal.aborted; i++) {
    await consumer.ask(`${name}-${i}`);
    await sleep(BUSY_EVERY_MS, undefined, { signal }).catch(() => undefined);
  }
}

/** Two that write, one that listens, and the consumer's own two. */
const CONNECTIONS = 5;

/** BullMQ waits for ever for the end of a connection that is just being made: nobody leaves before all stand. */
async function allConnected(link: FaultProxy): Promise<void> {
  const until = performance.now() + STUCK_AFTER_MS;
  while (link.connections !== CONNECTIONS && performance.now() < until) await sleep(20);
}

async function removeKeys(redis: Awaited<ReturnType<typeof openBus>>['redis'], prefix: string): Promise<void> {
  let cursor = '0';
  do {
    const [next, keys] = await redis.scan(cursor, 'MATCH', `*${prefix}*`, 'COUNT', 1_000);
    cursor = next;
    if (keys.length > 0) await redis.unlink(...keys);
  } while (cursor !== '0');
}

export const stuck = (outages: readonly Outage[]): number =>
  outages.filter(({ resumedMs }) => resumedMs === null).length;

export function redisOutageLines(outages: readonly Outage[], seed: string): string[] {
  const rows = WAYS.flatMap((way) =>
    [false, true].map((busy) => {
      const those = outages.filter((outage) => outage.way === way && outage.busy === busy);
      const times = those.flatMap(({ resumedMs }) => (resumedMs === null ? [] : [resumedMs]));
      return [
        `Redis ${way}`,
        busy ? 'busy' : 'idle',
        String(those.length),
        seconds(
          percentile(
            those.map(({ lastedMs }) => lastedMs),
            1,
          ),
          0,
        ),
        seconds(percentile(times, 0.5)),
        seconds(percentile(times, 1)),
        String(stuck(those)),
      ];
    }),
  );
  return [
    `Consumers of the queue while their Redis is away: seed ${seed}`,
    '',
    ...table(['outage', 'consumer', 'outages', 'longest', 'resumed p50', 'resumed max', 'stuck'], rows, [0, 1]),
  ];
}
