import type { ProgressSnapshot, Vote } from '@eloquentpoll/contracts';
import { responseJson } from '@eloquentpoll/polls';
import type { Result } from 'ioredis';
import { isCluster } from './connections.ts';
import { eachSlot } from './each-slot.ts';
import type { Keys } from './keys.ts';
import { type OnRefused, readSnapshot, readVote } from './read-stored.ts';
import type { RedisClient } from './redis-client.ts';
import { type Brief, briefOf, readBrief } from './run-brief.ts';
import { recordScript, runWrites, VOTE } from './run-writes.ts';

// A running poll in one hash: owner, newest snapshot, its brief, and votes. A worker writes votes, snapshots and
// messages in one command, fenced by the lease epoch. A worker that takes over reads the votes and asks no model twice.

/**
 * Minimum life of the record. A poll at or past its deadline may still wait for a worker, or for its result to be
 * stored.
 */
const MIN_RUNNING_TTL_S = 600;
const AFTER_DEADLINE_S = 480;
const ENDED_TTL_S = 900;

/** In a cluster, a poll's channel belongs to the slot of the poll. */
type Publish = 'PUBLISH' | 'SPUBLISH';

const TAKE_OVER = `
local epoch = tonumber(redis.call('HGET', KEYS[1], 'epoch') or '0')
if epoch > tonumber(ARGV[1]) then return nil end
redis.call('HSET', KEYS[1], 'epoch', ARGV[1])
redis.call('EXPIRE', KEYS[1], ARGV[2])
return redis.call('HGETALL', KEYS[1])`;

// Removes the votes, not the whole hash: while a cluster moves a slot, a deleted key cannot be written again where it
// was.
const end = (publish: Publish): string => `
local known = redis.call('HMGET', KEYS[1], 'epoch', 'owner')
if tonumber(known[1] or '0') > tonumber(ARGV[1]) then return 0 end
local owner = known[2] or ARGV[5]
redis.call('HSET', KEYS[1], 'epoch', ARGV[1], 'snapshot', ARGV[2], 'brief', owner .. ' ' .. ARGV[7], 'owner', owner, 'ended_by', ARGV[1])
local votes = {}
for _, field in ipairs(redis.call('HKEYS', KEYS[1])) do
  if string.sub(field, 1, ${VOTE.length}) == '${VOTE}' then votes[#votes + 1] = field end
end
if #votes > 0 then redis.call('HDEL', KEYS[1], unpack(votes)) end
redis.call('EXPIRE', KEYS[1], ARGV[4])
redis.call('${publish}', ARGV[3], ARGV[6])
if ARGV[8] ~= '' then redis.call('${publish}', ARGV[8], ARGV[6]) end
return 1`;

const BRIEFS = `
local briefs = {}
for i, key in ipairs(KEYS) do briefs[i] = redis.call('HGET', key, 'brief') end
return briefs`;

declare module 'ioredis' {
  interface RedisCommander<Context> {
    epBriefs(keys: number, ...args: string[]): Result<unknown, Context>;
    epRecord(key: string, ...args: (string | number)[]): Promise<number>;
    epTakeOver(key: string, ...args: (string | number)[]): Promise<string[] | null>;
    epEnd(key: string, ...args: (string | number)[]): Promise<number>;
  }
}

export interface RunState {
  /** The account that may see the session. Null if the record was lost in between. */
  owner: string | null;
  snapshot: ProgressSnapshot;
}

export interface RunRecord {
  /**
   * Announces that the poll exists or has a new worker. False if a newer worker has it. The record is kept until after
   * the deadline, which is `leftMs` from now, because the poll may wait that long for its next worker.
   */
  open(pollId: string, epoch: number, owner: string, snapshot: ProgressSnapshot, leftMs?: number): Promise<boolean>;
  /**
   * Records a vote and announces the snapshot after it, unless a newer one was announced. Safe to repeat if it is
   * unknown whether it was written. False if a newer worker has the poll.
   */
  vote(pollId: string, epoch: number, vote: Vote, snapshot: ProgressSnapshot, leftMs?: number): Promise<boolean>;
  /** Announces the end, with the result. Removes the votes from Redis: they are in Postgres by now. */
  end(pollId: string, epoch: number, owner: string, snapshot: ProgressSnapshot): Promise<boolean>;
  /**
   * Returns the votes of earlier workers and fences these workers in one command, so a vote is either in this list or
   * refused. Null if a newer worker has the poll.
   */
  takeOver(pollId: string, epoch: number, leftMs?: number): Promise<Vote[] | null>;
  votes(pollId: string): Promise<Vote[]>;
  read(pollId: string): Promise<RunState | null>;
  /** In the order of the ids. Null if there is no record, or one without an owner. */
  briefs(pollIds: readonly string[]): Promise<(Brief | null)[]>;
}

export function runRecord(
  redis: RedisClient,
  keys: Keys,
  /** The process that waits for the poll's end, if known here. */
  awaitedBy: (pollId: string) => string | undefined,
  onRefused: OnRefused,
): RunRecord {
  const inCluster = isCluster(redis);
  const publish = inCluster ? 'SPUBLISH' : 'PUBLISH';
  redis.defineCommand('epRecord', { numberOfKeys: 1, lua: recordScript(publish) });
  redis.defineCommand('epTakeOver', { numberOfKeys: 1, lua: TAKE_OVER });
  redis.defineCommand('epEnd', { numberOfKeys: 1, lua: end(publish) });
  redis.defineCommand('epBriefs', { lua: BRIEFS, readOnly: true });
  function votesIn(fields: readonly (readonly [string, string])[]): Vote[] {
    return fields.flatMap(([field, text]) => {
      if (!field.startsWith(VOTE)) return [];
      const vote = readVote(text);
      if (vote && field === `${VOTE}${vote.seat}`) return [vote];
      onRefused('vote');
      return [];
    });
  }
  const writes = runWrites(redis, keys);
  return {
    open: (id, epoch, owner, snapshot, leftMs) => writes.add(id, epoch, { owner, snapshot, ttlS: runningTtlS(leftMs) }),
    vote: (id, epoch, vote, snapshot, leftMs) => writes.add(id, epoch, { vote, snapshot, ttlS: runningTtlS(leftMs) }),
    async end(id, epoch, owner, snapshot) {
      writes.flush(id);
      // Only the message contains the result. The record keeps its id.
      const { result, ...others } = snapshot;
      const fields = JSON.stringify(others).slice(0, -1);
      const kept = `${fields},"result":null}`;
      const published = result === null ? kept : `${fields},"result":${responseJson(result)}}`;
      const waiting = awaitedBy(id);
      const inbox = waiting === undefined ? '' : keys.inbox(waiting);
      // In a cluster, the inbox belongs to another slot, so it needs its own command. Sending it unfenced is safe: the
      // end is already stored, whichever worker has the record.
      if (inCluster && inbox !== '') redis.spublish(inbox, published).catch(() => undefined);
      const [key, channel] = [keys.run(id), keys.channel(id)];
      const brief = briefOf(snapshot);
      const beside = inCluster ? '' : inbox;
      return (await redis.epEnd(key, epoch, kept, channel, ENDED_TTL_S, owner, published, brief, beside)) === 1;
    },
    async takeOver(id, epoch, leftMs) {
      writes.flush(id);
      const flat = await redis.epTakeOver(keys.run(id), epoch, runningTtlS(leftMs));
      return flat && votesIn(flat.flatMap((field, i) => (i % 2 === 0 ? [[field, flat[i + 1]!] as const] : [])));
    },
    async votes(id) {
      return votesIn(Object.entries(await redis.hgetall(keys.run(id))));
    },
    async read(id) {
      const [owner, snapshot] = await redis.hmget(keys.run(id), 'owner', 'snapshot');
      if (!snapshot) return null;
      const read = readSnapshot(snapshot);
      if (!read) onRefused('snapshot');
      return read && { owner: owner ?? null, snapshot: read };
    },
    async briefs(ids) {
      const texts = await eachSlot(redis, ids.map(keys.run), (slot) => redis.epBriefs(slot.length, ...slot));
      return texts.map((text) => {
        if (typeof text !== 'string') return null;
        const brief = readBrief(text);
        if (!brief) onRefused('brief');
        return brief;
      });
    },
  };
}

const runningTtlS = (leftMs = 0): number => Math.max(MIN_RUNNING_TTL_S, Math.ceil(leftMs / 1_000) + AFTER_DEADLINE_S);
