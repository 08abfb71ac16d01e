import type { ServiceTier } from '@eloquentpoll/contracts';
import { isCluster, mastersOf, producer, quit } from './connections.ts';
import { type ConsumerOptions, consumeQueue, type PollConsumer } from './consume-queue.ts';
import { keysUnder } from './keys.ts';
import { type Backlog, type Enqueued, type EnqueueOptions, openQueue, type QueueCounts } from './poll-queue.ts';
import { type OnNews, openChannels, type Watch } from './progress-channels.ts';
import type { OnRefused } from './read-stored.ts';
import type { RedisClient } from './redis-client.ts';
import { refuseEviction } from './refuse-eviction.ts';
import { type RunRecord, runRecord } from './run-record.ts';

export interface BusOptions {
  redisUrl: string;
  /** First part of every key; lets several installations (and tests) share a Redis. */
  prefix?: string;
  /** Connection errors while Redis is away. Each repeats until it is back. */
  onError?: (error: Error) => void;
  /** Called for each stored value that is not of its schema; it counts as absent. */
  onRefused?: OnRefused;
}

export interface Bus {
  /** `lane`: the queue that it waits in; `standard` without it. */
  enqueuePoll(pollId: string, options?: EnqueueOptions & { lane?: ServiceTier }): Promise<void>;
  /** Many of one lane, in one exchange with Redis. */
  enqueuePolls(lane: ServiceTier, polls: readonly Enqueued[]): Promise<void>;
  consumePolls(options: Omit<ConsumerOptions, 'onError'>): PollConsumer;
  watchPoll(pollId: string, onNews: OnNews): Promise<Watch>;
  /** Hears how the poll ends, and is not woken by what comes before. */
  watchEnd(pollId: string, onNews: OnNews): Promise<Watch>;
  /** A hint to the worker that has the poll, which reads the rest from Postgres. */
  announceCancel(pollId: string): Promise<void>;
  onCancel(listener: (pollId: string) => void): void;
  /** Deletes what Redis has of these polls, and says so to every process. */
  forgetPolls(pollIds: readonly string[]): Promise<void>;
  onDeletion(listener: (pollId: string) => void): void;
  readonly runs: RunRecord;
  /** For what else lives in this Redis under the same prefix: limiter, breakers, key cache. Fails fast. */
  readonly redis: RedisClient;
  readonly prefix: string;
  watched(): number;
  /** Of the lane; `standard` without it. */
  queueCounts(lane?: ServiceTier): Promise<QueueCounts>;
  /** How many polls of the lane wait. */
  queueWaiting(lane: ServiceTier): Promise<number>;
  /** Of the standard lane. */
  queueBacklog(ranks: readonly number[]): Promise<Backlog>;
  ping(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

/** Connects, or says in one sentence why not. */
export async function openBus({
  redisUrl,
  prefix = 'ep',
  onError = () => undefined,
  onRefused = () => undefined,
}: BusOptions): Promise<Bus> {
  const keys = keysUnder(prefix);
  const redis = producer(redisUrl);
  // BullMQ defines half a hundred commands on the connection that it is given, and every pipeline of such a connection
  // carries them all: on one for both, reading a session would cost three times as much.
  const queueRedis = producer(redisUrl);
  const both = [redis, queueRedis];
  for (const each of both) each.on('error', onError);
  const queues = await connected().catch((error) => {
    for (const each of both) each.disconnect();
    throw error;
  });
  async function connected() {
    await Promise.all(both.map((each) => each.connect()));
    await refuseEviction(redis);
    const standard = openQueue(queueRedis, keys, 'standard', onError);
    const flex = openQueue(queueRedis, keys, 'flex', onError);
    await Promise.all([standard.ready(), flex.ready()]);
    return { standard, flex };
  }
  const channels = openChannels(redisUrl, keys, onError, onRefused);
  return {
    enqueuePoll: (pollId, { lane = 'standard', ...options } = {}) => queues[lane].enqueue(pollId, options),
    enqueuePolls: (lane, polls) => queues[lane].enqueueAll(polls),
    consumePolls: (options) =>
      consumeQueue(redisUrl, keys, queues[options.lane ?? 'standard'], { ...options, onError }),
    watchPoll: (pollId, onNews) => channels.watch(keys.channel(pollId), onNews),
    watchEnd: (pollId, onNews) => channels.watch(keys.endChannel(pollId), onNews),
    async announceCancel(pollId) {
      await (isCluster(redis) ? redis.spublish(keys.cancels, pollId) : redis.publish(keys.cancels, pollId));
    },
    onCancel: (listener) => channels.hear(keys.cancels, listener),
    async forgetPolls(pollIds) {
      const pipeline = redis.pipeline();
      for (const id of pollIds) pipeline.del(keys.run(id)).publish(keys.deletions, id);
      for (const [error] of (await pipeline.exec()) ?? []) if (error) throw error;
    },
    onDeletion: (listener) => channels.hear(keys.deletions, listener),
    runs: runRecord(redis, keys, onRefused),
    redis,
    prefix,
    watched: channels.watched,
    queueCounts: (lane = 'standard') => queues[lane].counts(),
    queueWaiting: (lane) => queues[lane].waiting(),
    queueBacklog: queues.standard.backlog,
    async ping() {
      await Promise.all(mastersOf(redis).map((master) => master.ping()));
    },
    async [Symbol.asyncDispose]() {
      await Promise.all([queues.standard.close(), queues.flex.close(), channels.close()]);
      await Promise.all(both.map((each) => quit(each)));
    },
  };
}
