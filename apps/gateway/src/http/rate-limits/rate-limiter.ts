import type { ChainableCommander, Redis, Result } from 'ioredis';
import type { Operation, Policies, Policy, Window, WindowState } from '../../config/rate-limit-policies.ts';
import { localBudget } from './local-budget.ts';

// Counts calls in Redis, so that all replicas share one budget: fixed windows, counted in one atomic script, exactly as
// many pass as the limit says. While Redis is away paid operations fall back to a budget of this process, and free ones
// close, because nobody else bounds what they cost.

export interface Budget {
  allowed: boolean;
  /** Of the window with the least left. */
  window: Window;
  remaining: number;
  resetSeconds: number;
  policy: Policy;
}

export interface Caller {
  principal: string;
  calls: number;
}

export interface RateLimiter {
  take(operation: Operation, principal: string): Promise<Budget>;
  /** The same for several callers, each with as many calls as it makes, as one command of somebody else's batch. */
  batch(into: ChainableCommander, operation: Operation, callers: readonly Caller[]): void;
  /** What the command's reply leaves to one of the callers, for a call that was counted with so many after it. */
  read(operation: Operation, reply: unknown, caller?: number, callsAfter?: number): Budget;
  /** What holds when the batch did not reach Redis. */
  withoutRedis(operation: Operation, principal: string): Budget;
}

const TAKE = `
local counts = {}
for i, key in ipairs(KEYS) do
  local count = redis.call('INCRBY', key, ARGV[2 * i])
  if count == tonumber(ARGV[2 * i]) then redis.call('PEXPIRE', key, ARGV[2 * i - 1]) end
  counts[i] = { count, redis.call('PTTL', key) }
end
return counts`;

declare module 'ioredis' {
  interface RedisCommander<Context> {
    epTake(keys: number, ...args: (string | number)[]): Result<unknown, Context>;
  }
}

export function rateLimiter(redis: Redis, prefix: string, policies: Policies): RateLimiter {
  redis.defineCommand('epTake', { lua: TAKE });
  const local = localBudget();

  function argumentsOf(operation: Operation, callers: readonly Caller[]): [number, ...(string | number)[]] {
    const { windows } = policies[operation];
    // All windows of one principal live in one slot of a cluster.
    const keys = callers.flatMap(({ principal }) =>
      windows.map(({ seconds }) => `${prefix}:limit:{${principal}}:${operation}:${seconds}`),
    );
    const terms = callers.flatMap(({ calls }) => windows.flatMap(({ seconds }) => [seconds * 1_000, calls]));
    return [keys.length, ...keys, ...terms];
  }

  function read(operation: Operation, reply: unknown, caller = 0, callsAfter = 0): Budget {
    const policy = policies[operation];
    const counts: unknown[] = Array.isArray(reply) ? reply : [];
    const states = policy.windows.map((window, i) => {
      const entry = counts[caller * policy.windows.length + i];
      const [count = 0, leftMs = 0] = Array.isArray(entry) ? entry.map(Number) : [];
      return { window, count: count - callsAfter, leftMs };
    });
    return tightest(policy, states);
  }

  function withoutRedis(operation: Operation, principal: string): Budget {
    const policy = policies[operation];
    if (policy.withoutRedis === 'closed') {
      const window = policy.windows[0]!;
      return { allowed: false, window, remaining: 0, resetSeconds: CLOSED_RETRY_S, policy };
    }
    return tightest(policy, local.take(`${operation}:${principal}`, policy.windows));
  }

  return {
    async take(operation, principal) {
      try {
        return read(operation, await redis.epTake(...argumentsOf(operation, [{ principal, calls: 1 }])));
      } catch {
        return withoutRedis(operation, principal);
      }
    },
    batch: (into, operation, callers) => void into.epTake(...argumentsOf(operation, callers)),
    read,
    withoutRedis,
  };
}

const CLOSED_RETRY_S = 10;

function tightest(policy: Policy, states: readonly WindowState[]): Budget {
  const least = states.reduce((a, b) => (b.window.limit - b.count < a.window.limit - a.count ? b : a));
  return {
    allowed: least.count <= least.window.limit,
    window: least.window,
    remaining: Math.max(0, least.window.limit - least.count),
    resetSeconds: Math.max(1, Math.ceil(least.leftMs / 1_000)),
    policy,
  };
}
