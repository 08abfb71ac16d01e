import { quit } from './connections.ts';
import type { RedisClient } from './redis-client.ts';

/** The subscribed channels of one process, on a single Redis or a cluster. */
export interface Subscriptions {
  /** Resolves when the subscription is active. A refused one is retried until `part`. */
  join(channel: string): Promise<void>;
  part(channel: string): void;
  close(): Promise<void>;
}

export interface SubscriptionListener {
  heard(channel: string, message: string): void;
  /** These are subscribed again. Messages published in between are lost. */
  restored(channels: readonly string[]): void;
}

/** How often a connection that only listens sends a ping. Without it, it would not notice that its server is gone. */
const PING_EVERY_MS = 1_000;

/** A missing reply ends the connection, see `socketTimeout`. */
export function pinged<T extends RedisClient>(redis: T): T {
  const timer = setInterval(() => void redis.ping().catch(() => undefined), PING_EVERY_MS).unref();
  redis.once('end', () => clearInterval(timer));
  return redis;
}

export function subscribeOnServer(
  redis: RedisClient,
  { heard, restored }: SubscriptionListener,
  onError: (error: Error) => void,
): Subscriptions {
  const joined = new Set<string>();
  /** Channels whose subscription was sent. They are sent again on a new connection. */
  const sent = new Set<string>();
  pinged(redis);
  redis.on('error', onError);
  redis.on('message', heard);
  // Not left to the client: its own resubscription leaves a rejection unhandled if the connection breaks again, which
  // would end the process.
  redis.on('ready', () => {
    const channels = [...sent];
    if (channels.length === 0) return;
    redis.subscribe(...channels).then(
      () => restored(channels),
      () => undefined,
    );
  });
  const connected = redis.connect().catch(onError);
  return {
    async join(channel) {
      joined.add(channel);
      await connected;
      if (!joined.has(channel)) return;
      sent.add(channel);
      await redis.subscribe(channel);
    },
    part(channel) {
      joined.delete(channel);
      sent.delete(channel);
      // Not awaited: the connection sends it after the subscription and before the next one.
      redis.unsubscribe(channel).catch(() => undefined);
    },
    async close() {
      joined.clear();
      sent.clear();
      await quit(redis);
    },
  };
}
