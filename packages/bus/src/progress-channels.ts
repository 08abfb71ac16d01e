import type { ProgressSnapshot } from '@eloquentpoll/contracts';
import { withTimeout } from '@eloquentpoll/ops/with-timeout';
import { isCluster, quit, subscriber } from './connections.ts';
import type { Keys } from './keys.ts';
import { type OnRefused, readSnapshot } from './read-stored.ts';

// One connection per process subscribes to the channels of all polls that are watched here. Pub/sub loses messages, so a
// message is a hint: after a reconnect, or a message that cannot be read, watchers get `null` and read the state again.

export type OnNews = (snapshot: ProgressSnapshot | null) => void;

export interface Watch {
  close(): void;
}

export interface ProgressChannels {
  /** Resolves when the subscription stands: what is published after that is seen. Rejects while Redis is away. */
  watch(channel: string, onNews: OnNews): Promise<Watch>;
  /** Hears the ids of polls on a channel for as long as the connections live; one that is lost is not repeated. */
  hear(channel: string, listener: (pollId: string) => void): void;
  /** Channels watched here, for metrics and leak checks. */
  watched(): number;
  close(): Promise<void>;
}

interface Topic {
  watchers: Set<OnNews>;
  subscribed: Promise<unknown>;
}

const SUBSCRIBE_TIMEOUT_MS = 1_000;

export function openChannels(
  redisUrl: string,
  keys: Keys,
  onError: (error: Error) => void,
  onRefused: OnRefused,
): ProgressChannels {
  const redis = subscriber(redisUrl, `${keys.queue}-watch`);
  redis.on('error', onError);
  const topics = new Map<string, Topic>();

  const listeners = new Map<string, Set<(pollId: string) => void>>();

  const isSharded = isCluster(redis);
  const join = (channel: string) => (isSharded ? redis.ssubscribe(channel) : redis.subscribe(channel));
  const part = (channel: string) => (isSharded ? redis.sunsubscribe(channel) : redis.unsubscribe(channel));

  redis.on(isSharded ? 'smessage' : 'message', (channel: string, message: string) => {
    const heard = listeners.get(channel);
    if (heard) {
      for (const hear of heard) hear(message);
      return;
    }
    const topic = topics.get(channel);
    if (!topic) return;
    const snapshot = readSnapshot(message);
    if (!snapshot) onRefused('snapshot');
    for (const notify of topic.watchers) notify(snapshot);
  });
  // Not left to the client: its own resubscription leaves a rejection unhandled when the connection breaks again, which
  // ends the process.
  redis.on('ready', () => {
    const joined = [...topics.keys(), ...listeners.keys()];
    if (joined.length === 0) return;
    redis.subscribe(...joined).then(
      () => {
        for (const topic of topics.values()) for (const notify of topic.watchers) notify(null);
      },
      () => undefined,
    );
  });

  const connected = redis.connect().catch(onError);

  function leave(channel: string, onNews: OnNews): void {
    const topic = topics.get(channel);
    if (!topic?.watchers.delete(onNews) || topic.watchers.size > 0) return;
    topics.delete(channel);
    // Not waited for: the connection orders it after the subscription and before the next one.
    part(channel).catch(() => undefined);
  }

  return {
    async watch(channel, onNews) {
      await connected;
      let topic = topics.get(channel);
      if (!topic) {
        topic = {
          watchers: new Set(),
          subscribed: withTimeout(join(channel), SUBSCRIBE_TIMEOUT_MS),
        };
        topics.set(channel, topic);
      }
      topic.watchers.add(onNews);
      try {
        await topic.subscribed;
      } catch (error) {
        leave(channel, onNews);
        throw error;
      }
      return { close: () => leave(channel, onNews) };
    },
    hear(channel, listener) {
      listeners.set(channel, (listeners.get(channel) ?? new Set()).add(listener));
      void connected.then(() => redis.subscribe(channel)).catch(() => undefined);
    },
    watched: () => topics.size,
    async close() {
      topics.clear();
      await quit(redis);
    },
  };
}
