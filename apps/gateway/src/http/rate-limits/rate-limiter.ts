import type { ChainableCommander, Redis, Result } from 'ioredis';
import type { BudgetName, Policies, Policy, Window, WindowState } from '../../config/rate-limit-policies.ts';
import { localBudget } from './local-budget.ts';

// Fixed windows in Redis, counted in one atomic script for all replicas. While Redis is away paid operations fall back to
// a budget of this process, and free ones close, because nothing else bounds their cost.

export interface BudgetState {
  allowed: boolean;
  /** The window with the fewest calls left. */
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
  take(operation: BudgetName, principal: string): Promise<BudgetState>;
  /** Appends the same for several callers, each with its number of calls, to the caller's pipeline. */
  appendTo(pipeline: ChainableCommander, operation: BudgetName, callers: readonly Caller[]): void;
  /** One caller's budget in the command's reply, for a call that was counted with `callsAfter` after it. */
  readReply(operation: BudgetName, reply: unknown, caller?: number, callsAfter?: number): BudgetState;
  /** The budget when the pipeline did not reach Redis. */
  withoutRedis(operation: BudgetName, principal: string): BudgetState;
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

  function argumentsOf(operation: BudgetName, callers: readonly Caller[]): [number, ...(string | number)[]] {
    const { windows } = policies[operation];
    // All windows of one principal live in one slot of a cluster.
    const keys = callers.flatMap(({ principal }) =>
      windows.map(({ seconds }) => `${prefix}:limit:{${principal}}:${operation}:${seconds}`),
    );
    const terms = callers.flatMap(({ calls }) => windows.flatMap(({ seconds }) => [seconds * 1_000, calls]));
    return [keys.length, ...keys, ...terms];
  }

  function readReply(operation: BudgetName, reply: unknown, caller = 0, callsAfter = 0): BudgetState {
    const policy = policies[operation];
    const counts: unknown[] = Array.isArray(reply) ? reply : [];
    const states = policy.windows.map((window, i) => {
      const entry = counts[caller * policy.windows.length + i];
      const [count = 0, leftMs = 0] = Array.isArray(entry) ? entry.map(Number) : [];
      return { window, count: count - callsAfter, leftMs };
    });
    return tightest(policy, states);
  }

  function withoutRedis(operation: BudgetName, principal: string): BudgetState {
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
        return readReply(operation, await redis.epTake(...argumentsOf(operation, [{ principal, calls: 1 }])));
      } catch {
        return withoutRedis(operation, principal);
      }
    },
    appendTo: (pipeline, operation, callers) => void pipeline.epTake(...argumentsOf(operation, callers)),
    readReply,
    withoutRedis,
  };
}

const CLOSED_RETRY_S = 10;

function tightest(policy: Policy, states: readonly WindowState[]): BudgetState {
  const least = states.reduce((a, b) => (b.window.limit - b.count < a.window.limit - a.count ? b : a));
  return {
    allowed: least.count <= least.window.limit,
    window: least.window,
    remaining: Math.max(0, least.window.limit - least.count),
    resetSeconds: Math.max(1, Math.ceil(least.leftMs / 1_000)),
    policy,
  };
}
