import type { Ballot, ProgressSnapshot } from '@eloquentpoll/contracts';
import type { Redis } from 'ioredis';
import type { Keys } from './keys.ts';

// What is known of a running poll before it is stored: its owner, its newest snapshot and its ballots, in one hash. A
// worker writes ballot, snapshot and message in one command, fenced by the lease epoch, so that a worker that lost its
// lease neither overwrites nor announces anything. A worker that takes over reads the ballots and asks nobody twice.

const RUNNING_TTL_S = 600;
const ENDED_TTL_S = 900;

const RECORD = `
local epoch = tonumber(redis.call('HGET', KEYS[1], 'epoch') or '0')
if epoch > tonumber(ARGV[1]) then return 0 end
redis.call('HSET', KEYS[1], 'epoch', ARGV[1], 'snapshot', ARGV[2])
if ARGV[5] ~= '' then redis.call('HSET', KEYS[1], 'owner', ARGV[5]) end
if ARGV[6] ~= '' then redis.call('HSET', KEYS[1], 'ballot:' .. ARGV[6], ARGV[7]) end
redis.call('EXPIRE', KEYS[1], ARGV[4])
redis.call('PUBLISH', ARGV[3], ARGV[2])
return 1`;

const TAKE_OVER = `
local epoch = tonumber(redis.call('HGET', KEYS[1], 'epoch') or '0')
if epoch > tonumber(ARGV[1]) then return nil end
redis.call('HSET', KEYS[1], 'epoch', ARGV[1])
redis.call('EXPIRE', KEYS[1], ARGV[2])
return redis.call('HGETALL', KEYS[1])`;

const END = `
local epoch = tonumber(redis.call('HGET', KEYS[1], 'epoch') or '0')
if epoch > tonumber(ARGV[1]) then return 0 end
local owner = redis.call('HGET', KEYS[1], 'owner')
redis.call('DEL', KEYS[1])
redis.call('HSET', KEYS[1], 'epoch', ARGV[1], 'snapshot', ARGV[2], 'owner', owner or ARGV[5])
redis.call('EXPIRE', KEYS[1], ARGV[4])
redis.call('PUBLISH', ARGV[3], ARGV[6])
return 1`;

declare module 'ioredis' {
  interface RedisCommander {
    epRecord(key: string, ...args: (string | number)[]): Promise<number>;
    epTakeOver(key: string, ...args: (string | number)[]): Promise<string[] | null>;
    epEnd(key: string, ...args: (string | number)[]): Promise<number>;
  }
}

export interface RunState {
  /** The account that may see the session; null when the record was lost in between. */
  owner: string;
  snapshot: ProgressSnapshot;
}

export interface RunRecord {
  /** Announces that the poll exists or has a new worker. False when a newer worker has it. */
  open(pollId: string, epoch: number, owner: string, snapshot: ProgressSnapshot): Promise<boolean>;
  /** Logs a ballot and announces the snapshot that it led to. False when a newer worker has the poll. */
  ballot(pollId: string, epoch: number, ballot: Ballot, snapshot: ProgressSnapshot): Promise<boolean>;
  /** Announces the end, with the result; the ballots are in Postgres by now and leave Redis. */
  end(pollId: string, epoch: number, owner: string, snapshot: ProgressSnapshot): Promise<boolean>;
  /**
   * What earlier workers logged, in the same command that shuts them out: a ballot is either in this list or refused.
   * Null when a newer worker has the poll.
   */
  takeOver(pollId: string, epoch: number): Promise<Ballot[] | null>;
  ballots(pollId: string): Promise<Ballot[]>;
  read(pollId: string): Promise<RunState | null>;
}

export function runRecord(redis: Redis, keys: Keys): RunRecord {
  redis.defineCommand('epRecord', { numberOfKeys: 1, lua: RECORD });
  redis.defineCommand('epTakeOver', { numberOfKeys: 1, lua: TAKE_OVER });
  redis.defineCommand('epEnd', { numberOfKeys: 1, lua: END });
  const record = async (id: string, epoch: number, snapshot: string, owner: string, seat: string, ballot: string) =>
    (await redis.epRecord(keys.run(id), epoch, snapshot, keys.channel(id), RUNNING_TTL_S, owner, seat, ballot)) === 1;
  return {
    open: (id, epoch, owner, snapshot) => record(id, epoch, JSON.stringify(snapshot), owner, '', ''),
    ballot: (id, epoch, ballot, snapshot) =>
      record(id, epoch, JSON.stringify(snapshot), '', String(ballot.seat), JSON.stringify(ballot)),
    async end(id, epoch, owner, snapshot) {
      // The message carries the result to whoever waits; the record keeps only where to find it.
      const kept = JSON.stringify({ ...snapshot, result: null });
      const told = JSON.stringify(snapshot);
      return (await redis.epEnd(keys.run(id), epoch, kept, keys.channel(id), ENDED_TTL_S, owner, told)) === 1;
    },
    async takeOver(id, epoch) {
      const flat = await redis.epTakeOver(keys.run(id), epoch, RUNNING_TTL_S);
      return flat && ballotsIn(flat.flatMap((field, i) => (i % 2 === 0 ? [[field, flat[i + 1]!] as const] : [])));
    },
    async ballots(id) {
      return ballotsIn(Object.entries(await redis.hgetall(keys.run(id))));
    },
    async read(id) {
      const [owner, snapshot] = await redis.hmget(keys.run(id), 'owner', 'snapshot');
      return owner && snapshot ? { owner, snapshot: JSON.parse(snapshot) } : null;
    },
  };
}

const ballotsIn = (fields: readonly (readonly [string, string])[]): Ballot[] =>
  fields.filter(([field]) => field.startsWith('ballot:')).map(([, json]): Ballot => JSON.parse(json));
