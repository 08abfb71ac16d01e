import { eachSlot, type RedisClient } from '@eloquentpoll/bus';
import { findKeyByHash, type Storage } from '@eloquentpoll/storage';
import { type KeyOwner, ownerSeal } from './cached-owner.ts';
import { type HashedKey, nameOfHash } from './hashed-key.ts';

// Caches the owners of active keys in Redis. A revocation writes a tombstone before its commit, for the case that this
// process dies between the two, and after it. The tombstone outlives every lookup in flight, so no replica can cache the
// key again. Without Redis, reads go to Postgres.

const CACHE_TTL_S = 10;
/** Longer than any lookup that was in flight when the tombstone was written. */
const TOMBSTONE_TTL_S = 120;
const TOMBSTONE = '-';

export interface KeyCache {
  /** Where Postgres is to be asked, `around` is called with that; what it throws ends the search. */
  find(
    hash: Buffer,
    around?: (ask: () => Promise<KeyOwner | null>) => Promise<KeyOwner | null>,
  ): Promise<KeyOwner | null>;
  /** Those that are cached, in the order of the keys; null on a miss: call `find`. */
  findCached(keys: readonly HashedKey[]): Promise<(KeyOwner | null)[]>;
  /** Call before the commit of a revocation. Never throws, and waits for Redis only as long as a command may take. */
  forget(hashes: readonly Buffer[]): Promise<void>;
  /** Call after a revocation, and after an account was frozen or unfrozen. Then no replica serves the key from cache. */
  invalidate(hash: Buffer): Promise<void>;
}

export interface KeyCacheOptions {
  redis: RedisClient;
  prefix: string;
  storage: Storage;
  /** Of the keys; what is cached is sealed under a key made from it. */
  pepper: string;
  /** Called for every key that was found, in Redis or in Postgres. */
  onUse(keyId: string): void;
  now?: () => number;
}

export function keyCache({ redis, prefix, storage, pepper, onUse, now = Date.now }: KeyCacheOptions): KeyCache {
  const seal = ownerSeal(pepper, now);
  const redisKey = (name: string): string => `${prefix}:key:{${name}}`;

  function parse(name: string, reply: unknown): KeyOwner | null {
    // A tombstone is no sealed owner.
    const owner = typeof reply === 'string' ? seal.open(name, reply) : null;
    if (owner) onUse(owner.keyId);
    return owner;
  }

  async function findInPostgres(hash: Buffer): Promise<KeyOwner | null> {
    // Counted from before the question: a process that is paused until the tombstone is gone stores what is over.
    const askedAt = now();
    const row = await findKeyByHash(storage, hash);
    if (!row) return null;
    const { secondsLeft, isMoving, ...owner } = row;
    onUse(owner.keyId);
    // Its gateways forget it before the account leaves: see CACHED_S of the move.
    if (isMoving) return owner;
    const expiresAt = Math.floor(askedAt + Math.min(CACHE_TTL_S, secondsLeft ?? CACHE_TTL_S) * 1_000);
    const name = nameOfHash(hash);
    // Not awaited. NX keeps a tombstone.
    redis.set(redisKey(name), seal.seal(name, owner, expiresAt), 'PXAT', expiresAt, 'NX').catch(() => undefined);
    return owner;
  }

  const writeTombstone = (hash: Buffer) => redis.set(redisKey(nameOfHash(hash)), TOMBSTONE, 'EX', TOMBSTONE_TTL_S);

  return {
    async find(hash, around = (ask) => ask()) {
      const name = nameOfHash(hash);
      const cached = await redis.get(redisKey(name)).then(
        (reply) => parse(name, reply),
        () => null,
      );
      if (cached) return cached;
      return around(() => findInPostgres(hash));
    },
    async findCached(keys) {
      const names = keys.map(({ name }) => name);
      const replies = await eachSlot(redis, names.map(redisKey), (slot) => redis.mget([...slot])).catch(() => []);
      return names.map((name, i) => parse(name, replies[i]));
    },
    async forget(hashes) {
      await Promise.allSettled(hashes.map(writeTombstone));
    },
    async invalidate(hash) {
      try {
        await writeTombstone(hash);
      } catch {
        // The tombstone was not written: wait until every cached entry has expired.
        await new Promise((resolve) => setTimeout(resolve, CACHE_TTL_S * 1_000));
      }
    },
  };
}
