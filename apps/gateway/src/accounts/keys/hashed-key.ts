import { hashApiKey, looksLikeApiKey } from './api-key.ts';

// The hash of a key costs as much as everything else about a status request that is not HTTP, and the same few keys come
// all day. So the last ones are remembered, for two minutes at most and a few thousand at most: what is remembered is
// arithmetic, not whether the key is any good.

export interface HashedKey {
  readonly hash: Buffer;
  /** The hash as text: in Redis, and as the one whom calls are counted for. */
  readonly name: string;
}

export type KeyHasher = (key: string) => HashedKey | null;

const GENERATION_MS = 60_000;
const MOST_PER_GENERATION = 5_000;

/** Null for what cannot be a key of ours. */
export function keyHasher(pepper: string, now: () => number = () => performance.now()): KeyHasher {
  let young = new Map<string, HashedKey>();
  let old = new Map<string, HashedKey>();
  let bornAt = now();

  function age(): void {
    if (young.size < MOST_PER_GENERATION && now() - bornAt < GENERATION_MS) return;
    old = young;
    young = new Map();
    bornAt = now();
  }

  return (key) => {
    age();
    const known = young.get(key);
    if (known) return known;
    const hashed = old.get(key) ?? (looksLikeApiKey(key) ? hash(key) : null);
    if (hashed) young.set(key, hashed);
    return hashed;
  };

  function hash(key: string): HashedKey {
    const hash = hashApiKey(pepper, key);
    return { hash, name: nameOfHash(hash) };
  }
}

export const nameOfHash = (hash: Buffer): string => hash.toString('base64url');
