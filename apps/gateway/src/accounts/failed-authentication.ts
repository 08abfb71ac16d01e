import { ApiError } from '../http/api-error.ts';
import type { BudgetState, RateLimiter } from '../http/rate-limits/rate-limiter.ts';

// Each look-up of an unknown key costs a query of Postgres, and the checksum of keys is public. So a network that keeps
// failing is refused before that query. Other callers behind the same address are not locked out: keys cached in Redis
// and keys that were recently valid pass, and the last few look-ups are reserved for keys that have not failed.

/** Beyond this many the oldest is dropped; the count itself is in Redis. */
const MAX_BLOCKED = 10_000;
/** Number of look-ups reserved for keys that have not failed; a successful look-up is not deducted. */
const MAX_SPARE = 10;
/** How long a key that was valid is looked up regardless of its network's failures. */
const GOOD_MS = 600_000;
const MAX_GOOD = 20_000;

interface Block {
  until: number;
  /** Remaining look-ups, without those in progress. */
  spare: number;
  /** The key that started the block, and those that have failed since. */
  failed: Set<string>;
}

export interface FailedAuthentication {
  /**
   * Looks a key up and counts a failure if it is not found. Throws a 429 without a look-up when the network's failures
   * are nearly used up and the key was not valid recently.
   */
  lookUp<T>(network: string, name: string, ask: () => Promise<T | null>): Promise<T | null>;
  /** Notes that a key was valid. */
  noteGood(name: string): void;
  /** Counts an invalid token; throws a 429 when the network's failures are used up. */
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
    // The reserved look-ups are part of the budget.
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
        // The same key may have been looked up several times at once; its failure counts once.
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
