import type { ChainableCommander, Redis, Result } from 'ioredis';
import { localBudget } from './local-budget.ts';
import type { Operation, Policies, Policy, Window, WindowState } from './policies.ts';

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

export interface RateLimiter {
  take(operation: Operation, principal: string): Promise<Budget>;
  /** The same for one or several calls at once, as one command of somebody else's batch. */
  batch(into: ChainableCommander, operation: Operation, principal: string, calls?: number): void;
  /** The budget that a reply leaves to a call that was counted with so many after it. */
  read(operation: Operation, reply: unknown, callsAfter?: number): Budget;
  /** What holds when the batch did not reach Redis. */
  withoutRedis(operation: Operation, principal: string): Budget;
}

const TAKE = `
local counts = {}
local calls = tonumber(ARGV[#KEYS + 1])
for i, key in ipairs(KEYS) do
  local count = redis.call('INCRBY', key, calls)
  if count == calls then redis.call('PEXPIRE', key, ARGV[i]) end
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

  function argumentsOf(operation: Operation, principal: string, calls = 1): [number, ...(string | number)[]] {
    const { windows } = policies[operation];
    // All windows of one principal live in one slot of a cluster.
    const keys = windows.map(({ seconds }) => `${prefix}:limit:{${principal}}:${operation}:${seconds}`);
    return [keys.length, ...keys, ...windows.map(({ seconds }) => seconds * 1_000), calls];
  }

  function read(operation: Operation, reply: unknown, callsAfter = 0): Budget {
    const policy = policies[operation];
    const states = (Array.isArray(reply) ? reply : []).map((entry, i) => {
      const [count, leftMs] = Array.isArray(entry) ? entry.map(Number) : [];
      return { window: policy.windows[i]!, count: (count ?? 0) - callsAfter, leftMs: leftMs ?? 0 };
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
        return read(operation, await redis.epTake(...argumentsOf(operation, principal)));
      } catch {
        return withoutRedis(operation, principal);
      }
    },
    batch: (into, operation, principal, calls) => void into.epTake(...argumentsOf(operation, principal, calls)),
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
