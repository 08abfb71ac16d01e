import type { Redis } from 'ioredis';
import { producer, quit } from './connections.ts';
import { type ConsumerOptions, consumeQueue, type PollConsumer } from './consume-queue.ts';
import { keysUnder } from './keys.ts';
import { type Backlog, type EnqueueOptions, openQueue, type QueueCounts } from './poll-queue.ts';
import { type OnNews, openChannels, type Watch } from './progress-channels.ts';
import type { OnRefused } from './read-stored.ts';
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
  enqueuePoll(pollId: string, options?: EnqueueOptions): Promise<void>;
  consumePolls(options: Omit<ConsumerOptions, 'onError'>): PollConsumer;
  watchPoll(pollId: string, onNews: OnNews): Promise<Watch>;
  /** Hears how the poll ends, and is not woken by what comes before. */
  watchEnd(pollId: string, onNews: OnNews): Promise<Watch>;
  /** A hint to the worker that has the poll, which reads the rest from Postgres. */
  announceCancel(pollId: string): Promise<void>;
  onCancel(listener: (pollId: string) => void): void;
  readonly runs: RunRecord;
  /** For what else lives in this Redis under the same prefix: limiter, breakers, key cache. Fails fast. */
  readonly redis: Redis;
  readonly prefix: string;
  watched(): number;
  queueCounts(): Promise<QueueCounts>;
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
  const queue = await connected().catch((error) => {
    for (const each of both) each.disconnect();
    throw error;
  });
  async function connected() {
    await Promise.all(both.map((each) => each.connect()));
    await refuseEviction(redis);
    const queue = openQueue(queueRedis, keys, onError);
    await queue.ready();
    return queue;
  }
  const channels = openChannels(redisUrl, keys, onError, onRefused);
  return {
    enqueuePoll: queue.enqueue,
    consumePolls: (options) => consumeQueue(redisUrl, keys, queue, { ...options, onError }),
    watchPoll: (pollId, onNews) => channels.watch(keys.channel(pollId), onNews),
    watchEnd: (pollId, onNews) => channels.watch(keys.endChannel(pollId), onNews),
    async announceCancel(pollId) {
      await redis.publish(keys.cancels, pollId);
    },
    onCancel: channels.onCancel,
    runs: runRecord(redis, keys, onRefused),
    redis,
    prefix,
    watched: channels.watched,
    queueCounts: queue.counts,
    queueBacklog: queue.backlog,
    async ping() {
      await redis.ping();
    },
    async [Symbol.asyncDispose]() {
      await Promise.all([queue.close(), channels.close()]);
      await Promise.all(both.map((each) => quit(each)));
    },
  };
}
