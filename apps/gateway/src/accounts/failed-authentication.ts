import { ApiError } from '../http/api-error.ts';
import type { BudgetState, RateLimiter } from '../http/rate-limits/rate-limiter.ts';

// Every well-formed key that is unknown costs a query of Postgres, and the checksum of keys is public. A network that
// keeps failing is refused before that query. Keys that Redis has cached go on working, so that neighbours behind the
// same address are not locked out.

/** The oldest is forgotten beyond this many; the count itself is in Redis. */
const MAX_BLOCKED = 10_000;

export interface FailedAuthentication {
  /** Throws 429 for a network whose budget of failures is used up. Counts in memory only. */
  refuse(network: string): void;
  count(network: string): Promise<void>;
}

export function failedAuthentication(
  limiter: RateLimiter,
  now: () => number = () => performance.now(),
): FailedAuthentication {
  const blockedUntil = new Map<string, number>();

  function block(network: string, { resetSeconds }: BudgetState): void {
    if (blockedUntil.size >= MAX_BLOCKED) blockedUntil.delete(blockedUntil.keys().next().value ?? '');
    blockedUntil.set(network, now() + resetSeconds * 1_000);
  }

  return {
    refuse(network) {
      const leftMs = (blockedUntil.get(network) ?? 0) - now();
      if (leftMs > 0) {
        const retryAfterSeconds = Math.ceil(leftMs / 1_000);
        const detail = `Too many keys or tokens that are not valid came from your network; try again in ${retryAfterSeconds} s.`;
        throw new ApiError('rate_limited', { detail, retryAfterSeconds });
      }
      blockedUntil.delete(network);
    },
    async count(network) {
      const budget = await limiter.take('failed_authentication', network);
      if (budget.remaining === 0) block(network, budget);
    },
  };
}
