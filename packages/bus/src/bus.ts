import { randomBytes } from 'node:crypto';
import type { ServiceTier } from '@eloquentpoll/contracts';
import { withTimeout } from '@eloquentpoll/ops/with-timeout';
import { awaitedPolls } from './awaited-polls.ts';
import {
  COMMAND_TIMEOUT_MS,
  clusterOf,
  connectFirst,
  isCluster,
  mastersOf,
  nodeSubscriber,
  producer,
  quit,
  subscriber,
} from './connections.ts';
import { type ConsumerOptions, consumeQueue, type PollConsumer } from './consume-queue.ts';
import { keysUnder } from './keys.ts';
import { type Backlog, type Enqueued, type EnqueueOptions, pollQueue, type QueueCounts } from './poll-queue.ts';
import { type OnNews, openChannels, type Watch } from './progress-channels.ts';
import { defineQueueScripts } from './queue-scripts.ts';
import { queueShard } from './queue-shard.ts';
import type { OnRefused } from './read-stored.ts';
import type { RedisClient } from './redis-client.ts';
import { refuseEviction } from './refuse-eviction.ts';
import { type RunRecord, runRecord } from './run-record.ts';
import { subscribeInCluster } from './subscribe-in-cluster.ts';
import { subscribeOnServer } from './subscriptions.ts';

export interface BusOptions {
  redisUrl: string;
  /** Prefix of every key, so that several installations (and tests) can share a Redis. */
  prefix?: string;
  /** Number of shards of each lane's queue. Default: 1. */
  queueShards?: number;
  /** How long a command waits for its reply, and a watcher for its subscription. Default: 1 s. */
  commandTimeoutMs?: number;
  /** Called with connection errors while Redis is down. Each error repeats until Redis is back. */
  onError?: (error: Error) => void;
  /** Called for each stored value that does not match its schema. Such a value counts as absent. */
  onRefused?: OnRefused;
}

export interface Bus {
  /** `lane`: the lane to enqueue into. Default: `standard`. */
  enqueuePoll(pollId: string, options?: EnqueueOptions & { lane?: ServiceTier }): Promise<void>;
  /** Enqueues many polls of one lane in one exchange with Redis. */
  enqueuePolls(lane: ServiceTier, polls: readonly Enqueued[]): Promise<void>;
  consumePolls(options: ConsumePolls): PollConsumer;
  watchPoll(pollId: string, onNews: OnNews): Promise<Watch>;
  /** Notifies of the poll's end, not of its progress. Call it before this process enqueues the poll. */
  watchEnd(pollId: string, onNews: OnNews): Promise<Watch>;
  /** Notifies the worker that runs the poll. The worker reads the cancellation from Postgres. */
  announceCancel(pollId: string): Promise<void>;
  onCancel(listener: (pollId: string) => void): void;
  /** Deletes these polls from Redis and notifies every process. */
  forgetPolls(pollIds: readonly string[]): Promise<void>;
  onDeletion(listener: (pollId: string) => void): void;
  readonly runs: RunRecord;
  /** For other uses of this Redis under the same prefix: limiter, breakers, key cache. Fails fast. */
  readonly redis: RedisClient;
  readonly prefix: string;
  watched(): number;
  /** Default lane: `standard`. */
  queueCounts(lane?: ServiceTier): Promise<QueueCounts>;
  /** How many polls of the lane wait. */
  queueWaiting(lane: ServiceTier): Promise<number>;
  /** For the standard lane. */
  queueBacklog(ranks: readonly number[]): Promise<Backlog>;
  /** How many masters there are and how many of them do not answer. Rejects if none does. */
  ping(): Promise<{ masters: number; away: number }>;
  [Symbol.asyncDispose](): Promise<void>;
}

export interface ConsumePolls extends Omit<ConsumerOptions, 'onError' | 'run'> {
  /** Must settle soon after the signal aborts. Errors that it throws are reported and the job is dropped. */
  run(pollId: string, signal: AbortSignal): Promise<void>;
}

const PING_TIMEOUT_MS = 500;

/** Connects, or throws an error that says in one sentence why it cannot. */
export async function openBus({
  redisUrl,
  prefix = 'ep',
  queueShards = 1,
  commandTimeoutMs = COMMAND_TIMEOUT_MS,
  onError = () => undefined,
  onRefused = () => undefined,
}: BusOptions): Promise<Bus> {
  const keys = keysUnder(prefix);
  const redis = producer(redisUrl, commandTimeoutMs);
  redis.on('error', onError);
  try {
    await connectFirst(redis);
    await refuseEviction(redis);
  } catch (error) {
    redis.disconnect();
    throw error;
  }
  defineQueueScripts(redis, isCluster(redis) ? 'SPUBLISH' : 'PUBLISH');
  const queueOf = (lane: ServiceTier) =>
    pollQueue(Array.from({ length: queueShards }, (_, shard) => queueShard(redis, keys.shard(lane, shard))));
  const queues = { standard: queueOf('standard'), flex: queueOf('flex') };
  const self = randomBytes(6).toString('hex');
  const channels = openChannels(
    (listener) => {
      const [name, cluster] = [keys.watcher, clusterOf(redis)];
      return cluster
        ? subscribeInCluster(
            cluster,
            (address) => nodeSubscriber(redisUrl, name, address, commandTimeoutMs),
            listener,
            onError,
          )
        : subscribeOnServer(subscriber(redisUrl, name), listener, onError);
    },
    keys.inbox(self),
    onRefused,
    commandTimeoutMs,
  );
  const awaited = awaitedPolls();
  const awaitedBy = (pollId: string) => (channels.awaits(pollId) ? self : awaited.awaitedBy(pollId));
  const publish = (channel: string, message: string): Promise<unknown> =>
    isCluster(redis) ? redis.spublish(channel, message) : redis.publish(channel, message);
  return {
    enqueuePoll: (pollId, { lane = 'standard', ...options } = {}) =>
      queues[lane].enqueue([{ pollId, awaitedBy: awaitedBy(pollId), ...options }]),
    enqueuePolls: (lane, polls) => queues[lane].enqueue(polls),
    consumePolls: ({ run, ...options }) =>
      consumeQueue(queues[options.lane ?? 'standard'], channels, {
        ...options,
        onError,
        async run({ pollId, awaitedBy }, signal) {
          using _job = awaited.begin(pollId, awaitedBy);
          await run(pollId, signal);
        },
      }),
    watchPoll: (pollId, onNews) => channels.watch(keys.channel(pollId), onNews),
    watchEnd: channels.watchEnd,
    async announceCancel(pollId) {
      await publish(keys.cancels, pollId);
    },
    onCancel: (listener) => void channels.hear(keys.cancels, listener),
    async forgetPolls(pollIds) {
      // Not in a pipeline, because a cluster's pipeline is limited to one slot. The connection sends these together
      // anyway.
      await Promise.all(pollIds.flatMap((id) => [redis.del(keys.run(id)), publish(keys.deletions, id)]));
    },
    onDeletion: (listener) => void channels.hear(keys.deletions, listener),
    runs: runRecord(redis, keys, awaitedBy, onRefused),
    redis,
    prefix,
    watched: channels.watched,
    queueCounts: (lane = 'standard') => queues[lane].counts(),
    queueWaiting: (lane) => queues[lane].waiting(),
    queueBacklog: queues.standard.backlog,
    async ping() {
      const asked = mastersOf(redis).map((master) => withTimeout(master.ping(), PING_TIMEOUT_MS));
      const answers = await Promise.allSettled(asked);
      const away = answers.filter(({ status }) => status === 'rejected').length;
      if (away === answers.length) throw new Error('no Redis answers');
      return { masters: answers.length, away };
    },
    async [Symbol.asyncDispose]() {
      await channels.close();
      await quit(redis);
    },
  };
}
