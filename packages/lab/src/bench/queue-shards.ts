import { randomBytes } from 'node:crypto';
import { openBus } from '@eloquentpoll/bus';
import { withTimeout } from '@eloquentpoll/ops/with-timeout';
import { startRedis } from '@eloquentpoll/services/redis';
import { startRedisCluster } from '@eloquentpoll/services/redis-cluster';
import { openThrowAwayGroup } from '@eloquentpoll/services/throw-away-group';
import { cpuUs } from '../fixture/process-cpu.ts';

// The queue alone: jobs that do nothing, added and taken in this process, on one Redis or a cluster of three masters.

export interface QueueServers extends AsyncDisposable {
  /** The number of masters. */
  readonly masters: number;
  /** Microseconds of CPU per job: of this process, and of each master. */
  costs(shards: number, jobs: number): Promise<{ nodeUs: number; masterUs: number[] }>;
}

const CONCURRENCY = 50;
/** How long jobs that have been added may wait for the end of the last one. */
const LAST_JOBS_MS = 60_000;
const PASSWORD = 'bench';

export async function openQueueServers(masters: 1 | 3): Promise<QueueServers> {
  await using made = new AsyncDisposableStack();
  const group = made.use(await openThrowAwayGroup('a queue'));
  const options = { group, password: PASSWORD, durable: false, stage: 1 };
  const cluster = masters === 1 ? null : await startRedisCluster(options);
  const servers = cluster ? cluster.servers.filter(({ began }) => began === 'master') : [await startRedis(options)];
  const redisUrl = cluster?.url ?? servers[0]!.url;
  const read = () => servers.map(({ process }) => cpuUs(process.pid));
  const owned = made.move();
  return {
    masters,
    async costs(shards, jobs) {
      await using bus = await openBus({ redisUrl, prefix: `q${randomBytes(4).toString('hex')}`, queueShards: shards });
      let ran = 0;
      const all = Promise.withResolvers<void>();
      const run = async (): Promise<void> => {
        ran += 1;
        if (ran === jobs) all.resolve();
      };
      const consumer = bus.consumePolls({ concurrency: CONCURRENCY, run });
      await consumer.ready();
      const [before, begun] = [read(), process.cpuUsage()];
      // One after the other, as if from many gateways: jobs that are added together would share round trips to Redis.
      for (let added = 0; added < jobs; added++) {
        const id = randomBytes(12).toString('hex');
        await bus.enqueuePoll(`ps_${id}`, { tenant: id, place: { rank: 0, isAwaited: false } });
      }
      await withTimeout(all.promise, LAST_JOBS_MS).catch((cause) => {
        throw new Error(`the queue ran ${ran} of ${jobs} jobs`, { cause });
      });
      const { user, system } = process.cpuUsage(begun);
      const masterUs = read().map((us, i) => (us - before[i]!) / jobs);
      await consumer.drain(1_000);
      return { nodeUs: (user + system) / jobs, masterUs };
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}
