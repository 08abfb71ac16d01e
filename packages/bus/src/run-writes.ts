import type { ProgressSnapshot, Vote } from '@eloquentpoll/contracts';
import type { Keys } from './keys.ts';
import type { RedisClient } from './redis-client.ts';
import { briefOf } from './run-brief.ts';

// The start and the votes of a poll that fall into one turn of the event loop go to Redis in one command. That delays
// nothing, because a client writes at the end of the turn anyway.

/** Prefix of a vote's field; the seat follows. */
export const VOTE = 'vote:';

// ARGV: epoch, channel, time to live, owner or empty, brief; then for each entry its seat or empty, vote, snapshot
// number, snapshot. The first write of an epoch sets the time to live, which outlasts the poll. A write may be
// repeated, or arrive late over another connection. Then its votes are kept, but a snapshot that is not newer than the
// newest is neither kept nor announced. After the end, nothing is kept.
export const recordScript = (publish: 'PUBLISH' | 'SPUBLISH'): string => `
local known = redis.call('HMGET', KEYS[1], 'epoch', 'owner', 'seq', 'ended_by')
local epoch, mine = tonumber(known[1] or '0'), tonumber(ARGV[1])
if epoch > mine then return 0 end
if known[4] == ARGV[1] then return 1 end
local newest = tonumber(known[3] or '-1')
local fields = { 'epoch', ARGV[1] }
local function set(field, value) fields[#fields + 1], fields[#fields + 2] = field, value end
local owner = ARGV[4] ~= '' and ARGV[4] or known[2]
if owner then set('owner', owner) end
if tonumber(ARGV[#ARGV - 1]) > newest then
  set('snapshot', ARGV[#ARGV])
  set('seq', ARGV[#ARGV - 1])
  if owner then set('brief', owner .. ' ' .. ARGV[5]) end
end
for i = 6, #ARGV, 4 do
  if ARGV[i] ~= '' then set('${VOTE}' .. ARGV[i], ARGV[i + 1]) end
end
redis.call('HSET', KEYS[1], unpack(fields))
if epoch < mine then redis.call('EXPIRE', KEYS[1], ARGV[3]) end
for i = 6, #ARGV, 4 do
  local seq = tonumber(ARGV[i + 2])
  if seq > newest then
    newest = seq
    redis.call('${publish}', ARGV[2], ARGV[i + 3])
  end
end
return 1`;

export interface RunEntry {
  /** The owner of the poll. Only the first entry has it. */
  owner?: string;
  /** The vote that led to the snapshot. */
  vote?: Vote;
  snapshot: ProgressSnapshot;
  ttlS: number;
}

export interface RunWrites {
  /** False if a newer worker has the poll. */
  add(pollId: string, epoch: number, entry: RunEntry): Promise<boolean>;
  /** Sends the poll's pending entries, so that later commands come after them. */
  flush(pollId: string): void;
}

interface Waiting {
  epoch: number;
  entries: RunEntry[];
  written: PromiseWithResolvers<boolean>;
}

export function runWrites(redis: RedisClient, keys: Keys): RunWrites {
  const waiting = new Map<string, Waiting>();

  function flush(id: string): void {
    const sent = waiting.get(id);
    if (!sent) return;
    waiting.delete(id);
    const { epoch, written } = sent;
    const entries = sent.entries.toSorted((one, other) => one.snapshot.seq - other.snapshot.seq);
    const owner = entries.find((entry) => entry.owner !== undefined)?.owner ?? '';
    const said = entries.flatMap(({ vote, snapshot }) => [
      vote ? vote.seat : '',
      vote ? JSON.stringify(vote) : '',
      snapshot.seq,
      JSON.stringify(snapshot),
    ]);
    const { snapshot, ttlS } = entries.at(-1)!;
    const brief = briefOf(snapshot);
    redis
      .epRecord(keys.run(id), epoch, keys.channel(id), ttlS, owner, brief, ...said)
      .then((reply) => written.resolve(reply === 1), written.reject);
  }

  function flushAll(): void {
    for (const id of [...waiting.keys()]) flush(id);
  }

  return {
    add(id, epoch, entry) {
      const known = waiting.get(id);
      if (known?.epoch === epoch) {
        known.entries.push(entry);
        return known.written.promise;
      }
      flush(id);
      if (waiting.size === 0) setImmediate(flushAll);
      const written = Promise.withResolvers<boolean>();
      waiting.set(id, { epoch, entries: [entry], written });
      return written.promise;
    },
    flush,
  };
}
