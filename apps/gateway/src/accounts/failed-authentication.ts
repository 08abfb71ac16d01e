import { ApiError } from '../http/api-error.ts';
import type { BudgetState, RateLimiter } from '../http/rate-limits/rate-limiter.ts';

// Every well-formed key that is unknown costs a query of Postgres, and the checksum of keys is public. A network that
// keeps failing is refused before that query. Neighbours behind the same address are not locked out: keys that Redis has
// cached, keys that opened an account a moment ago, and the last few look-ups, which are left to keys that have not failed.

/** The oldest is forgotten beyond this many; the count itself is in Redis. */
const MAX_BLOCKED = 10_000;
/** Look-ups that are left to other keys; each that finds its key is given back. */
const MAX_SPARE = 10;
/** How long after it opened its account a key is looked up whatever its network does. */
const GOOD_MS = 600_000;
const MAX_GOOD = 20_000;

interface Block {
  until: number;
  /** Look-ups that are left, those under way taken off. */
  spare: number;
  /** The key that began it, and those that failed since. */
  failed: Set<string>;
}

export interface FailedAuthentication {
  /**
   * Looks a key up by its name and counts what is not found. Throws 429 instead where the network's failures are nearly
   * used up and nothing speaks for the key.
   */
  lookUp<T>(network: string, name: string, ask: () => Promise<T | null>): Promise<T | null>;
  /** Notes that a key has opened its account. */
  noteGood(name: string): void;
  /** Counts a token that opens nothing; throws 429 where the failures are used up. */
  count(network: string): Promise<void>;
}

export function failedAuthentication(
  limiter: RateLimiter,
  now: () => number = () => performance.now(),
): FailedAuthentication {
  const blocks = new Map<string, Block>();
  const goodUntil = new Map<string, number>();

  function blockOf(network: string): Block | undefined {
    const block = blocks.get(network);
    if (block && block.until > now()) return block;
    blocks.delete(network);
    return undefined;
  }

  function refusal({ until }: Block): ApiError {
    const retryAfterSeconds = Math.ceil((until - now()) / 1_000);
    const detail = `Too many keys or tokens that are not valid came from your network; try again in ${retryAfterSeconds} s.`;
    return new ApiError('rate_limited', { detail, retryAfterSeconds });
  }

  async function take(network: string): Promise<Block | undefined> {
    const { remaining, resetSeconds, window }: BudgetState = await limiter.take('failed_authentication', network);
    // What is spared is part of the budget.
    const spare = Math.min(MAX_SPARE, Math.floor(window.limit / 6));
    const block = blockOf(network);
    if (block || remaining > spare) return block;
    if (blocks.size >= MAX_BLOCKED) blocks.delete(blocks.keys().next().value ?? '');
    const left = Math.min(spare, remaining);
    const begun: Block = { until: now() + resetSeconds * 1_000, spare: left, failed: new Set() };
    blocks.set(network, begun);
    return begun;
  }

  return {
    async lookUp(network, name, ask) {
      const block = (goodUntil.get(name) ?? 0) > now() ? undefined : blockOf(network);
      if (block && (block.spare <= 0 || block.failed.has(name))) throw refusal(block);
      if (block) block.spare -= 1;
      let hasFailed = false;
      try {
        const found = await ask();
        hasFailed = found === null;
        if (!hasFailed) return found;
      } finally {
        // The same key may have been looked up several times at once.
        if (block && (!hasFailed || block.failed.has(name))) block.spare += 1;
      }
      goodUntil.delete(name);
      block?.failed.add(name);
      const current = await take(network);
      if (current?.failed.size === 0) current.failed.add(name);
      return null;
    },
    noteGood(name) {
      goodUntil.delete(name);
      if (goodUntil.size >= MAX_GOOD) goodUntil.delete(goodUntil.keys().next().value ?? '');
      goodUntil.set(name, now() + GOOD_MS);
    },
    async count(network) {
      const block = blockOf(network);
      if (block) throw refusal(block);
      await take(network);
    },
  };
}
