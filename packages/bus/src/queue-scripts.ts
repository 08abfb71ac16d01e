import type { RedisClient } from './redis-client.ts';

// The queue's scripts. Each touches one shard, so one slot of a cluster, and needs only Redis 6.2 or Valkey. A job is
// in `waiting` by its place in the fair order, or in `taken` by the time of its return, and in `jobs` with its facts.

/** A script's KEYS, in this order. */
export const SHARD_KEYS = ['waiting', 'taken', 'jobs', 'clock', 'idle'] as const;

/** Jobs in the same place are ordered by arrival. A score is exact up to 2^53. */
const ARRIVALS = 2 ** 16;
/** Within a turn, polls whose callers wait come first. */
const PLACES_PER_TURN = 2;
/** Lower scores belong to jobs without a place. */
const TURN = PLACES_PER_TURN * ARRIVALS;
const MAX_PLACE = 2 ** 36;
/**
 * Time for the first renewal of a job. Without it, the job was probably lost on its way, or its worker died at once.
 */
export const STARTS_WITHIN_MS = 5_000;
/** Longer than the lease in Postgres, so that the polls of a dead worker can be claimed when their jobs return. */
export const HELD_MS = 10_000;
const MAX_BROUGHT_BACK = 64;
/**
 * Consumers that died while idle stay until a job is sent to them. A live one that is removed is back within a second.
 */
export const MAX_IDLE = 4_096;

export const turnOf = (score: number): number => Math.floor(score / TURN);
/** The last score of the turn that is `later` turns after that of `score`. */
export const endOfTurn = (score: number, later: number): number => (turnOf(score) + 1 + later) * TURN - 1;

const NOW = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)`;

/** ARGV[1]: the newest turn that the process has seen in any shard. */
const PRESENT_TURN = `
local clock = redis.call('HMGET', KEYS[4], 'turn', 'arrived')
local turn = math.max(tonumber(clock[1] or '1'), tonumber(ARGV[1]))`;

/**
 * Sends the first jobs to idle consumers, starting with the one that would take the most. One without a subscription
 * has died.
 */
const HAND_OUT = (publish: Publish) => `
local function hand_out(prefix)
  while true do
    local idle = redis.call('ZRANGE', KEYS[5], -1, -1, 'WITHSCORES')
    local id = idle[1] and redis.call('ZRANGE', KEYS[1], 0, 0)[1]
    if not id then return end
    local facts = redis.call('HGET', KEYS[3], id) or ''
    if redis.call('${publish}', prefix .. idle[1], id .. ' ' .. facts) == 0 then
      redis.call('ZREM', KEYS[5], idle[1])
    else
      redis.call('ZREM', KEYS[1], id)
      redis.call('ZADD', KEYS[2], now + ${STARTS_WITHIN_MS}, id)
      if tonumber(idle[2]) > 1 then redis.call('ZINCRBY', KEYS[5], -1, idle[1])
      else redis.call('ZREM', KEYS[5], idle[1]) end
    end
  end
end`;

/**
 * ARGV: the turn, the prefix of channels, then id, facts and place of each job. A place below 0 is ahead of all others.
 */
const ADD = (publish: Publish) => `${NOW}${PRESENT_TURN}${HAND_OUT(publish)}
local arrived = tonumber(clock[2] or '0')
local before = arrived
for i = 3, #ARGV, 3 do
  if redis.call('HSETNX', KEYS[3], ARGV[i], string.format('%.0f %s', now, ARGV[i + 1])) == 1 then
    local place = tonumber(ARGV[i + 2])
    if place < 0 then place = 0 else place = math.min(${PLACES_PER_TURN} * turn + place, ${MAX_PLACE}) end
    redis.call('ZADD', KEYS[1], place * ${ARRIVALS} + arrived % ${ARRIVALS}, ARGV[i])
    arrived = arrived + 1
  end
end
if arrived > before then
  redis.call('HSET', KEYS[4], 'turn', turn, 'arrived', arrived)
  hand_out(ARGV[2])
end
return turn`;

/**
 * ARGV: the consumer, the prefix of channels, how many jobs it wants, the highest score it accepts, how many it may be
 * sent later, the newest turn it knows, the turn of the first job in other shards or -1, then the ids of jobs that
 * ended. Returns the score of the first job that remains, the turn, then id and facts of each job.
 */
const TAKE = (publish: Publish) => `${NOW}${HAND_OUT(publish)}
for i = 8, #ARGV do
  if redis.call('ZREM', KEYS[2], ARGV[i]) == 1 then redis.call('HDEL', KEYS[3], ARGV[i]) end
end
for _, id in ipairs(redis.call('ZRANGEBYSCORE', KEYS[2], '-inf', now, 'LIMIT', 0, ${MAX_BROUGHT_BACK})) do
  redis.call('ZREM', KEYS[2], id)
  redis.call('ZADD', KEYS[1], redis.call('HINCRBY', KEYS[4], 'arrived', 1) % ${ARRIVALS}, id)
end
local reply = {}
local want = tonumber(ARGV[3])
local ids = want > 0 and redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', ARGV[4], 'LIMIT', 0, want) or {}
if ids[1] then
  redis.call('ZREM', KEYS[1], unpack(ids))
  local facts = redis.call('HMGET', KEYS[3], unpack(ids))
  for i, id in ipairs(ids) do
    redis.call('ZADD', KEYS[2], now + ${STARTS_WITHIN_MS}, id)
    reply[2 * i + 1], reply[2 * i + 2] = id, facts[i] or ''
  end
end
local head = redis.call('ZRANGE', KEYS[1], 0, 0, 'WITHSCORES')[2]
reply[1] = head or ''
-- It never goes back, so that no job is left behind by later ones.
local first, turn = tonumber(ARGV[7]), tonumber(ARGV[6])
if head then
  local own = math.floor(tonumber(head) / ${TURN})
  if first < 0 or own < first then first = own end
end
if first >= 0 then
  local known = tonumber(redis.call('HGET', KEYS[4], 'turn') or '0')
  turn = math.max(turn, first, known, 1)
  if turn > known then redis.call('HSET', KEYS[4], 'turn', turn) end
end
reply[2] = string.format('%.0f', turn)
local later = tonumber(ARGV[5])
if want > 0 then later = math.min(later, want - #ids) end
if not head and later > 0 then
  redis.call('ZADD', KEYS[5], later, ARGV[1])
  redis.call('ZREMRANGEBYRANK', KEYS[5], 0, ${-MAX_IDLE - 1})
else
  redis.call('ZREM', KEYS[5], ARGV[1])
  if head then hand_out(ARGV[2]) end
end
return reply`;

/** ARGV: ids. Jobs that have returned to the queue meanwhile stay there. */
const RENEW = `${NOW}
for _, id in ipairs(ARGV) do redis.call('ZADD', KEYS[2], 'XX', now + ${HELD_MS}, id) end`;

/** ARGV: how many. Returns id and score of each of the next jobs, then the facts of each. */
const HEAD = `
local reply = redis.call('ZRANGE', KEYS[1], 0, ARGV[1] - 1, 'WITHSCORES')
local ids = {}
for i = 1, #reply, 2 do ids[#ids + 1] = reply[i] end
if ids[1] then
  for _, facts in ipairs(redis.call('HMGET', KEYS[3], unpack(ids))) do reply[#reply + 1] = facts or '' end
end
return reply`;

/** ARGV: an id. Returns 1 if the job was waiting; it is taken then. */
const PICK = `${NOW}
if redis.call('ZREM', KEYS[1], ARGV[1]) == 0 then return 0 end
redis.call('ZADD', KEYS[2], now + ${STARTS_WITHIN_MS}, ARGV[1])
return 1`;

/**
 * Returns how many jobs wait, how many are taken, and the facts of the first job without a place and of the first with
 * one.
 */
const COUNTS = `
local reply = { redis.call('ZCARD', KEYS[1]), redis.call('ZCARD', KEYS[2]) }
for i, from in ipairs({ 0, ${TURN} }) do
  local first = redis.call('ZRANGEBYSCORE', KEYS[1], from, '+inf', 'LIMIT', 0, 1)[1]
  reply[2 + i] = first and redis.call('HGET', KEYS[3], first) or ''
end
return reply`;

/**
 * ARGV: the turn, then places. Returns the current turn, how many jobs are taken, and how many are ahead of a new job
 * in each place.
 */
const BACKLOG = `${PRESENT_TURN}
local reply = { turn, redis.call('ZCARD', KEYS[2]) }
for i = 2, #ARGV do
  local behind = math.min(${PLACES_PER_TURN} * turn + ARGV[i], ${MAX_PLACE}) + 1
  reply[i + 1] = redis.call('ZCOUNT', KEYS[1], '-inf', '(' .. string.format('%.0f', behind * ${ARRIVALS}))
end
return reply`;

/** In a cluster, the channels of a shard belong to its slot. */
export type Publish = 'PUBLISH' | 'SPUBLISH';

type Arguments = (string | number)[];

declare module 'ioredis' {
  interface RedisCommander<Context> {
    epQueueAdd(...args: Arguments): Promise<number>;
    epQueueTake(...args: Arguments): Promise<string[]>;
    epQueueRenew(...args: Arguments): Promise<null>;
    epQueueHead(...args: Arguments): Promise<string[]>;
    epQueuePick(...args: Arguments): Promise<number>;
    epQueueCounts(...args: Arguments): Promise<[number, number, string, string]>;
    epQueueBacklog(...args: Arguments): Promise<[number, number, ...number[]]>;
  }
}

export function defineQueueScripts(redis: RedisClient, publish: Publish): void {
  const numberOfKeys = SHARD_KEYS.length;
  redis.defineCommand('epQueueAdd', { numberOfKeys, lua: ADD(publish) });
  redis.defineCommand('epQueueTake', { numberOfKeys, lua: TAKE(publish) });
  redis.defineCommand('epQueueRenew', { numberOfKeys, lua: RENEW });
  redis.defineCommand('epQueueHead', { numberOfKeys, lua: HEAD, readOnly: true });
  redis.defineCommand('epQueuePick', { numberOfKeys, lua: PICK });
  redis.defineCommand('epQueueCounts', { numberOfKeys, lua: COUNTS, readOnly: true });
  redis.defineCommand('epQueueBacklog', { numberOfKeys, lua: BACKLOG, readOnly: true });
}
