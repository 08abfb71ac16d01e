import { randomBytes } from 'node:crypto';
import type { RedisClient } from '@eloquentpoll/bus';
import type { FastifyRequest } from 'fastify';
import type { Result } from 'ioredis';
import { ApiError } from '../api-error.ts';
import { principalOf } from '../hooks/rate-limit.ts';

// How many event streams one account, or one network without credentials, may have open at all gateways. Counted before
// a stream costs anything: each holds a socket, and reads Postgres when it begins. A slot in Redis ends by itself, so a
// gateway that dies keeps none; while Redis is away each gateway goes by its own streams.

export interface StreamLimits {
  perAccount: number;
  perNetwork: number;
}

export interface StreamSlots {
  /** Throws a 429 when all are taken; what it returns gives the slot back, once. */
  take(request: FastifyRequest): Promise<() => void>;
}

const RETRY_AFTER_S = 5;
/** No stream lasts longer: the longest deadline of a poll is two minutes. */
const MAX_STREAM_MS = 180_000;

const TAKE = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now)
if redis.call('ZCARD', KEYS[1]) >= tonumber(ARGV[2]) then return 0 end
redis.call('ZADD', KEYS[1], now + ARGV[3], ARGV[1])
redis.call('PEXPIRE', KEYS[1], ARGV[3])
return 1`;

declare module 'ioredis' {
  interface RedisCommander<Context> {
    epTakeStream(key: string, slot: string, limit: number, ms: number): Result<number, Context>;
  }
}

export function streamSlots(redis: RedisClient, prefix: string, { perAccount, perNetwork }: StreamLimits): StreamSlots {
  redis.defineCommand('epTakeStream', { numberOfKeys: 1, lua: TAKE });
  const here = slotsHere();
  const gateway = randomBytes(6).toString('base64url');
  let next = 0;
  return {
    async take(request) {
      const principal = principalOf(request);
      const limit = request.principal ? perAccount : perNetwork;
      const key = `${prefix}:streams:{${principal}}`;
      const slot = `${gateway}.${next++}`;
      if (here.of(principal) >= limit) throw tooManyStreams(limit);
      const giveBack = here.take(principal);
      const isFree = await redis.epTakeStream(key, slot, limit, MAX_STREAM_MS).catch(() => 1);
      if (isFree === 0) {
        giveBack();
        throw tooManyStreams(limit);
      }
      let isTaken = true;
      return () => {
        if (!isTaken) return;
        isTaken = false;
        giveBack();
        redis.zrem(key, slot).catch(() => undefined);
      };
    },
  };
}

function slotsHere() {
  const taken = new Map<string, number>();
  return {
    of: (principal: string): number => taken.get(principal) ?? 0,
    take(principal: string): () => void {
      taken.set(principal, (taken.get(principal) ?? 0) + 1);
      return () => {
        const left = taken.get(principal)! - 1;
        if (left > 0) taken.set(principal, left);
        else taken.delete(principal);
      };
    },
  };
}

const tooManyStreams = (limit: number): ApiError =>
  new ApiError('rate_limited', {
    detail: `At most ${limit} event streams are open at once; close one, or ask for the status instead.`,
    retryAfterSeconds: RETRY_AFTER_S,
  });
