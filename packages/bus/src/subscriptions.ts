import { quit } from './connections.ts';
import type { RedisClient } from './redis-client.ts';

/** The channels of one process, over one Redis or a cluster. */
export interface Subscriptions {
  /** Resolves when it stands. One that is refused is tried again until `part`. */
  join(channel: string): Promise<void>;
  part(channel: string): void;
  close(): Promise<void>;
}

export interface SubscriptionListener {
  heard(channel: string, message: string): void;
  /** They stand again; what was published before is lost. */
  restored(channels: readonly string[]): void;
}

/** So often a connection that only listens asks for a reply: without one it would not notice that its server is gone. */
const PING_EVERY_MS = 1_000;

/** A reply that does not come ends the connection, see `socketTimeout`. */
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
  /** Those that were sent once, and are sent again with a new connection. */
  const sent = new Set<string>();
  pinged(redis);
  redis.on('error', onError);
  redis.on('message', heard);
  // Not left to the client: its own resubscription leaves a rejection unhandled when the connection breaks again, which
  // ends the process.
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
      // Not waited for: the connection orders it after the subscription and before the next one.
      redis.unsubscribe(channel).catch(() => undefined);
    },
    async close() {
      joined.clear();
      sent.clear();
      await quit(redis);
    },
  };
}
