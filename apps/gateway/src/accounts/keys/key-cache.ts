import { findKeyByHash, type Storage } from '@eloquentpoll/storage';
import type { ChainableCommander, Redis } from 'ioredis';
import { type HashedKey, nameOfHash } from './hashed-key.ts';

// Caches the owners of active keys in Redis. A revocation writes a tombstone after its commit; the tombstone outlives
// every lookup in flight, so no replica can cache the key again. Without Redis, reads go to Postgres.

export interface KeyOwner {
  accountId: string;
  keyId: string;
}

const CACHE_TTL_S = 10;
/** Longer than any lookup that was in flight when the tombstone was written. */
const TOMBSTONE_TTL_S = 120;
const TOMBSTONE = '-';

export interface KeyCache {
  /** `beforeStore` runs before Postgres is asked; what it throws ends the search. */
  find(hash: Buffer, beforeStore?: () => void): Promise<KeyOwner | null>;
  /** Appends one MGET of all keys to the caller's pipeline. */
  appendTo(pipeline: ChainableCommander, keys: readonly HashedKey[]): void;
  /** The owner of the key at `index` in that MGET's reply; null on a miss: call `find`. */
  readReply(reply: unknown, index: number): KeyOwner | null;
  /** Call after a revocation. Resolves once no replica can serve the key from cache. */
  invalidate(hash: Buffer): Promise<void>;
}

const isUuid = (text: string | undefined): text is string =>
  text?.length === 36 && /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(text);

/** `onUse` is called for every key that was found, in Redis or in Postgres. */
export function keyCache(redis: Redis, prefix: string, storage: Storage, onUse: (keyId: string) => void): KeyCache {
  const redisKey = (name: string): string => `${prefix}:key:{${name}}`;
  const redisKeyOf = (hash: Buffer): string => redisKey(nameOfHash(hash));

  function parse(reply: unknown): KeyOwner | null {
    if (typeof reply !== 'string' || reply === TOMBSTONE) return null;
    const [accountId, keyId] = reply.split(' ');
    if (!isUuid(accountId) || !isUuid(keyId)) return null;
    onUse(keyId);
    return { accountId, keyId };
  }

  async function findInPostgres(hash: Buffer): Promise<KeyOwner | null> {
    const owner = await findKeyByHash(storage, hash);
    if (owner) {
      onUse(owner.keyId);
      const value = `${owner.accountId} ${owner.keyId}`;
      // Not awaited. NX keeps a tombstone.
      const ttlMs = Math.min(CACHE_TTL_S, owner.secondsLeft ?? CACHE_TTL_S) * 1_000;
      if (ttlMs >= 1) redis.set(redisKeyOf(hash), value, 'PX', Math.floor(ttlMs), 'NX').catch(() => undefined);
    }
    return owner;
  }

  return {
    async find(hash, beforeStore) {
      const cached = await redis.get(redisKeyOf(hash)).then(parse, () => null);
      if (cached) return cached;
      beforeStore?.();
      return findInPostgres(hash);
    },
    appendTo: (pipeline, keys) => void pipeline.mget(keys.map(({ name }) => redisKey(name))),
    readReply: (reply, index) => (Array.isArray(reply) ? parse(reply[index]) : null),
    async invalidate(hash) {
      try {
        await redis.set(redisKeyOf(hash), TOMBSTONE, 'EX', TOMBSTONE_TTL_S);
      } catch {
        // The tombstone was not written: wait until every cached entry has expired.
        await new Promise((resolve) => setTimeout(resolve, CACHE_TTL_S * 1_000));
      }
    },
  };
}
