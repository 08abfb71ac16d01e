import { findKeyByHash, type Storage } from '@eloquentpoll/storage';
import type { ChainableCommander, Redis } from 'ioredis';
import { type HashedKey, nameOfHash } from './hashed-key.ts';

// Active keys, remembered in Redis for a few seconds so that most requests need no question to Postgres. A revocation
// commits in Postgres and then puts up a sign, "ask Postgres", before it is answered: the sign replaces what was
// remembered and keeps whoever read the row earlier from remembering it again, so that no replica accepts the key any
// more. While Redis is away everybody asks Postgres.

export interface KeyOwner {
  accountId: string;
  keyId: string;
}

const REMEMBER_S = 10;
/** Longer than any look-up that was under way when the sign went up. */
const SIGN_S = 120;
const ASK_POSTGRES = '-';

export interface KeyCache {
  find(hash: Buffer): Promise<KeyOwner | null>;
  /** Several at once, as one command of somebody else's batch. */
  batch(into: ChainableCommander, keys: readonly HashedKey[]): void;
  /** What that command's reply says of one of them: its owner, or null for "find it". */
  read(reply: unknown, place: number): KeyOwner | null;
  /** After a key was revoked: resolves when nobody can accept it from memory any more. */
  distrust(hash: Buffer): Promise<void>;
}

/** `onUse` hears of every key that was found, by whichever way. */
export function keyCache(redis: Redis, prefix: string, storage: Storage, onUse: (keyId: string) => void): KeyCache {
  const under = (name: string): string => `${prefix}:key:{${name}}`;
  const name = (hash: Buffer): string => under(nameOfHash(hash));

  function readOne(reply: unknown): KeyOwner | null {
    if (typeof reply !== 'string' || reply === ASK_POSTGRES) return null;
    const [accountId, keyId] = reply.split(' ');
    if (!accountId || !keyId) return null;
    onUse(keyId);
    return { accountId, keyId };
  }

  async function ask(hash: Buffer): Promise<KeyOwner | null> {
    const owner = await findKeyByHash(storage, hash);
    if (owner) {
      onUse(owner.keyId);
      const value = `${owner.accountId} ${owner.keyId}`;
      // Not waited for, and not where a sign stands.
      redis.set(name(hash), value, 'EX', REMEMBER_S, 'NX').catch(() => undefined);
    }
    return owner;
  }

  return {
    async find(hash) {
      const known = await redis.get(name(hash)).then(readOne, () => null);
      return known ?? ask(hash);
    },
    batch: (into, keys) => void into.mget(keys.map(({ name }) => under(name))),
    read: (reply, place) => (Array.isArray(reply) ? readOne(reply[place]) : null),
    async distrust(hash) {
      try {
        await redis.set(name(hash), ASK_POSTGRES, 'EX', SIGN_S);
      } catch {
        // No sign can be put up, so what may still be remembered somewhere has to fade before the answer.
        await new Promise((resolve) => setTimeout(resolve, REMEMBER_S * 1_000));
      }
    },
  };
}
