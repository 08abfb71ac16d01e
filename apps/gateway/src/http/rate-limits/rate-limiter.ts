import { eachSlot, type RedisClient } from '@eloquentpoll/bus';
import type { Result } from 'ioredis';
import type { BudgetName, Policies, Policy, Window, WindowState } from '../../config/rate-limit-policies.ts';
import { localBudget } from './local-budget.ts';

// Fixed windows in Redis, counted in one atomic script for all gateways. While Redis is away, paid operations fall back
// to a budget of this process, and free ones are refused, because nothing else limits their cost.

export interface BudgetState {
  allowed: boolean;
  /** Refused because Redis is away, not because a limit was reached. */
  isClosed?: true;
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

/** For each window of an operation: the calls so far, and the milliseconds until it starts again. */
export type Counted = readonly (readonly [count: number, leftMs: number])[];

export interface RateLimiter {
  take(operation: BudgetName, principal: string): Promise<BudgetState>;
  /** Counts the calls of several callers, in order; null for a caller that could not be counted. */
  count(operation: BudgetName, callers: readonly Caller[]): Promise<(Counted | null)[]>;
  /** The budget of a counted call, when `callsAfter` calls were counted after it. */
  budgetOf(operation: BudgetName, counted: Counted, callsAfter: number): BudgetState;
  /** The budget of a call that could not be counted in Redis. */
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

export function rateLimiter(redis: RedisClient, prefix: string, policies: Policies): RateLimiter {
  redis.defineCommand('epTake', { lua: TAKE });
  const local = localBudget();

  async function count(operation: BudgetName, callers: readonly Caller[]): Promise<(Counted | null)[]> {
    const { windows } = policies[operation];
    const counters = callers.flatMap(({ principal, calls }) =>
      windows.map(({ seconds }) => ({
        key: `${prefix}:limit:{${principal}}:${operation}:${seconds}`,
        terms: [seconds * 1_000, calls],
      })),
    );
    const keys = counters.map(({ key }) => key);
    const take = (slot: readonly string[], places: readonly number[]) =>
      redis.epTake(slot.length, ...slot, ...places.flatMap((place) => counters[place]!.terms));
    const replies = await eachSlot(redis, keys, take).catch(() => []);
    return callers.map((_, caller) => {
      const own = replies.slice(caller * windows.length, (caller + 1) * windows.length);
      return own.length === windows.length && own.every(isCount) ? own : null;
    });
  }

  function budgetOf(operation: BudgetName, counted: Counted, callsAfter: number): BudgetState {
    const policy = policies[operation];
    const states = policy.windows.map((window, i) => {
      const [count, leftMs] = counted[i]!;
      return { window, count: count - callsAfter, leftMs };
    });
    return tightest(policy, states);
  }

  function withoutRedis(operation: BudgetName, principal: string): BudgetState {
    const policy = policies[operation];
    if (policy.withoutRedis === 'closed') {
      const window = policy.windows[0]!;
      return { allowed: false, isClosed: true, window, remaining: 0, resetSeconds: CLOSED_RETRY_S, policy };
    }
    return tightest(policy, local.take(`${operation}:${principal}`, policy.windows));
  }

  return {
    async take(operation, principal) {
      const [counted] = await count(operation, [{ principal, calls: 1 }]);
      return counted ? budgetOf(operation, counted, 0) : withoutRedis(operation, principal);
    },
    count,
    budgetOf,
    withoutRedis,
  };
}

const isCount = (reply: unknown): reply is readonly [number, number] =>
  Array.isArray(reply) && reply.length === 2 && reply.every((part) => typeof part === 'number');

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
