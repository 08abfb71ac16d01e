import { eachSlot, type RedisClient } from '@eloquentpoll/bus';
import { findKeyByHash, type Storage } from '@eloquentpoll/storage';
import type { Result } from 'ioredis';
import { type KeyOwner, ownerSeal } from './cached-owner.ts';
import { type HashedKey, nameOfHash } from './hashed-key.ts';

// Caches the owners of active keys in Redis. A revocation writes a tombstone before its commit, in case this process
// dies right after it, and again afterwards. The tombstone outlives every lookup in flight, so no gateway can cache the
// key again. It is read only before an owner is cached; a lookup simply does not find a revoked key. Without Redis,
// keys are read from Postgres.

const CACHE_TTL_S = 10;
/** Longer than any lookup that was in flight when the tombstone was written. */
const TOMBSTONE_TTL_S = 120;
const AGAIN_MS = 250;

/** KEYS: the cached owner, the tombstone; ARGV: the owner, its expiry. */
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
  /** If Postgres has to be asked, `around` is called with that query; an error it throws ends the search. */
  find(
    hash: Buffer,
    around?: (ask: () => Promise<KeyOwner | null>) => Promise<KeyOwner | null>,
  ): Promise<KeyOwner | null>;
  /** The cached owners, in the order of the keys; null for a miss: call `find` then. */
  findCached(keys: readonly HashedKey[]): Promise<(KeyOwner | null)[]>;
  /** Call it before a revocation commits. Never throws; waits for Redis only as long as two commands may take. */
  forget(hashes: readonly Buffer[]): Promise<void>;
  /**
   * Call it after a revocation, and after freezing or unfreezing an account. Then no gateway uses a cached owner: the
   * tombstone is written, or every cached owner has expired.
   */
  invalidate(hash: Buffer): Promise<void>;
}

export interface KeyCacheOptions {
  redis: RedisClient;
  prefix: string;
  storage: Storage;
  /** The pepper of keys; cached owners are sealed with a secret derived from it. */
  pepper: string;
  /** Called for every key that is found, in Redis or in Postgres. */
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
    // Taken before the query: if the process pauses until the tombstone has gone, the entry is expired too.
    const askedAt = now();
    const row = await findKeyByHash(storage, hash);
    if (!row) return null;
    const { secondsLeft, isMoving, ...owner } = row;
    onUse(owner.keyId);
    // Not cached: gateways must have forgotten the key when the account leaves (CACHED_S in move-account.ts).
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
    // In this order, so that an owner stored in between is deleted.
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
      let haveExpired = false;
      const expiry = setTimeout(() => {
        haveExpired = true;
      }, CACHE_TTL_S * 1_000);
      try {
        while (!haveExpired) {
          const isWritten = await writeTombstone(hash).then(
            () => true,
            () => false,
          );
          if (isWritten) return;
          await new Promise((resolve) => setTimeout(resolve, AGAIN_MS));
        }
      } finally {
        clearTimeout(expiry);
      }
    },
  };
}
