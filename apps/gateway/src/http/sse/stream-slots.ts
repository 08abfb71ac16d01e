import { randomBytes } from 'node:crypto';
import type { RedisClient } from '@eloquentpoll/bus';
import { repeat } from '@eloquentpoll/ops';
import type { FastifyRequest } from 'fastify';
import type { Result } from 'ioredis';
import { ApiError } from '../api-error.ts';
import { principalOf } from '../hooks/rate-limit.ts';

// Limits open event streams per account, per read-only key and per anonymous network, over all gateways. They are
// counted first because each holds a socket and reads Postgres when it starts. A slot in Redis expires unless its
// gateway renews it, so a dead gateway keeps none. While Redis is away, each gateway counts its own streams.

export interface StreamLimits {
  perAccount: number;
  perNetwork: number;
}

export interface StreamSlots {
  /** Throws a 429 when all slots are taken; otherwise returns a function that gives the slot back, once. */
  take(request: FastifyRequest): Promise<() => void>;
}

const RETRY_AFTER_S = 5;
const SLOT_MS = 180_000;
/** Slots are renewed because the stream of a flex poll may be open for a day. */
const RENEW_EVERY_MS = 60_000;
/** Number of accounts and networks whose slots are renewed at a time. */
const RENEWED_TOGETHER = 100;

const TAKE = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now)
if redis.call('ZCARD', KEYS[1]) >= tonumber(ARGV[2]) then return 0 end
redis.call('ZADD', KEYS[1], now + ARGV[3], ARGV[1])
redis.call('PEXPIRE', KEYS[1], ARGV[3])
return 1`;

// Also adds slots that Redis has lost or never received.
const RENEW = `
local time = redis.call('TIME')
local ends = time[1] * 1000 + math.floor(time[2] / 1000) + ARGV[1]
for i = 2, #ARGV do redis.call('ZADD', KEYS[1], ends, ARGV[i]) end
redis.call('PEXPIRE', KEYS[1], ARGV[1])
return 1`;

declare module 'ioredis' {
  interface RedisCommander<Context> {
    epTakeStream(key: string, slot: string, limit: number, ms: number): Result<number, Context>;
    epRenewStreams(key: string, ms: number, ...slots: string[]): Result<number, Context>;
  }
}

/** A read-only key has its own slots, like its budgets, so that it cannot take those of its owner. */
const holderOf = (request: FastifyRequest): string =>
  (request.principal?.isReadOnly && request.principal.keyId) || principalOf(request);

export function streamSlots(
  redis: RedisClient,
  prefix: string,
  { perAccount, perNetwork }: StreamLimits,
  renewEveryMs = RENEW_EVERY_MS,
): StreamSlots {
  redis.defineCommand('epTakeStream', { numberOfKeys: 1, lua: TAKE });
  redis.defineCommand('epRenewStreams', { numberOfKeys: 1, lua: RENEW });
  const here = slotsHere(renewEveryMs, (key, slots) => redis.epRenewStreams(key, SLOT_MS, ...slots));
  const gateway = randomBytes(6).toString('base64url');
  let next = 0;
  return {
    async take(request) {
      const limit = request.principal ? perAccount : perNetwork;
      const key = `${prefix}:streams:{${holderOf(request)}}`;
      const slot = `${gateway}.${next++}`;
      if (here.of(key) >= limit) throw tooManyStreams(limit);
      const leave = here.take(key, slot);
      // Also called after a refusal, because a renewal may have added the slot in between.
      const giveBack = (): void => {
        leave();
        redis.zrem(key, slot).catch(() => undefined);
      };
      const isFree = await redis.epTakeStream(key, slot, limit, SLOT_MS).catch(() => 1);
      if (isFree === 0) {
        giveBack();
        throw tooManyStreams(limit);
      }
      let isTaken = true;
      return () => {
        if (!isTaken) return;
        isTaken = false;
        giveBack();
      };
    },
  };
}

/** The slots of this gateway by key; they are renewed while there are any. */
function slotsHere(everyMs: number, renew: (key: string, slots: Iterable<string>) => Promise<unknown>) {
  const taken = new Map<string, Set<string>>();
  let renewing: AsyncDisposable | null = null;

  async function renewAll(signal: AbortSignal): Promise<void> {
    const all = [...taken];
    for (let i = 0; i < all.length && !signal.aborted; i += RENEWED_TOGETHER) {
      const some = all.slice(i, i + RENEWED_TOGETHER).filter(([, slots]) => slots.size > 0);
      // A failed renewal is repeated in the next round; a slot survives two failures.
      await Promise.allSettled(some.map(([key, slots]) => renew(key, slots)));
    }
  }

  return {
    of: (key: string): number => taken.get(key)?.size ?? 0,
    take(key: string, slot: string): () => void {
      const slots = taken.get(key) ?? new Set();
      taken.set(key, slots.add(slot));
      renewing ??= repeat(renewAll, { everyMs, onError: () => undefined });
      return () => {
        slots.delete(slot);
        if (slots.size === 0) taken.delete(key);
        if (taken.size > 0) return;
        void renewing?.[Symbol.asyncDispose]();
        renewing = null;
      };
    },
  };
}

const tooManyStreams = (limit: number): ApiError =>
  new ApiError('rate_limited', {
    detail: `At most ${limit} event streams are open at once; close one, or ask for the status instead.`,
    retryAfterSeconds: RETRY_AFTER_S,
  });
