import { eachSlot, type RedisClient } from '@eloquentpoll/bus';
import { findKeyByHash, type Storage } from '@eloquentpoll/storage';
import type { Result } from 'ioredis';
import { type KeyOwner, ownerSeal } from './cached-owner.ts';
import { type HashedKey, nameOfHash } from './hashed-key.ts';

// Caches the owners of active keys in Redis. A revocation writes a tombstone before its commit, for the case that this
// process dies between the two, and after it. The tombstone outlives every lookup in flight, so no replica can cache the
// key again. It is read only where an owner is about to be cached: to a lookup a revoked key is one that never was.
// Without Redis, reads go to Postgres.

const CACHE_TTL_S = 10;
/** Longer than any lookup that was in flight when the tombstone was written. */
const TOMBSTONE_TTL_S = 120;

/** KEYS: the place of an owner, its tombstone; ARGV: the owner, until when. */
const STORE = `
if redis.call('EXISTS', KEYS[2]) == 0 then
  redis.call('SET', KEYS[1], ARGV[1], 'PXAT', ARGV[2], 'NX')
end`;

declare module 'ioredis' {
  interface RedisCommander<Context> {
    epStoreOwner(place: string, tombstone: string, owner: string, expiresAt: number): Result<unknown, Context>;
  }
}

export interface KeyCache {
  /** Where Postgres is to be asked, `around` is called with that; what it throws ends the search. */
  find(
    hash: Buffer,
    around?: (ask: () => Promise<KeyOwner | null>) => Promise<KeyOwner | null>,
  ): Promise<KeyOwner | null>;
  /** Those that are cached, in the order of the keys; null on a miss: call `find`. */
  findCached(keys: readonly HashedKey[]): Promise<(KeyOwner | null)[]>;
  /** Call before the commit of a revocation. Never throws, and waits for Redis only as long as two commands may take. */
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
  redis.defineCommand('epStoreOwner', { numberOfKeys: 2, lua: STORE });
  const redisKey = (name: string): string => `${prefix}:key:{${name}}`;
  const tombstoneOf = (name: string): string => `${redisKey(name)}:revoked`;

  function parse(name: string, reply: unknown): KeyOwner | null {
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
    const sealed = seal.seal(name, owner, expiresAt);
    // Not awaited.
    redis.epStoreOwner(redisKey(name), tombstoneOf(name), sealed, expiresAt).catch(() => undefined);
    return owner;
  }

  async function writeTombstone(hash: Buffer): Promise<void> {
    const name = nameOfHash(hash);
    // In this order: what is stored in between is deleted.
    await redis.set(tombstoneOf(name), '', 'EX', TOMBSTONE_TTL_S);
    await redis.del(redisKey(name));
  }

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
