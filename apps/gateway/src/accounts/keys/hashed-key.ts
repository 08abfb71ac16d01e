import { hashApiKey, looksLikeApiKey } from './api-key.ts';

// Caches the HMAC of recent keys in two generations of one minute, because hashing is half the cost of a status
// request. It does not cache whether a key is valid.

export interface HashedKey {
  readonly hash: Buffer;
  /** The hash as text: its Redis key, and the caller's name in rate limits. */
  readonly name: string;
  /** The key's owner at its last call: a guess that saves a round trip, never an answer. */
  lately?: { accountId: string; keyId: string } | undefined;
}

export type KeyHasher = (key: string) => HashedKey | null;

const GENERATION_MS = 60_000;
const MAX_PER_GENERATION = 5_000;

/** The hasher returns null for text that does not have the format of a key. */
export function keyHasher(pepper: string, now: () => number = () => performance.now()): KeyHasher {
  let young = new Map<string, HashedKey>();
  let old = new Map<string, HashedKey>();
  let bornAt = now();

  function rotate(): void {
    if (young.size < MAX_PER_GENERATION && now() - bornAt < GENERATION_MS) return;
    old = young;
    young = new Map();
    bornAt = now();
  }

  return (key) => {
    rotate();
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
