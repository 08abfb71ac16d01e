import type { Brief, Bus } from '@eloquentpoll/bus';
import type { KeyOwner } from '../../accounts/keys/cached-owner.ts';
import type { HashedKey } from '../../accounts/keys/hashed-key.ts';
import type { KeyCache } from '../../accounts/keys/key-cache.ts';
import type { BudgetState, RateLimiter } from '../../http/rate-limits/rate-limiter.ts';

// Key, budget and run of every status request that arrived in one turn of the event loop, in one pipeline to Redis.
// Requests with the same key share its look-up and its counter. Nothing is kept between turns, so revocation holds.

export interface RunReply {
  /** Null when the key is not cached: then Postgres decides. */
  owner: KeyOwner | null;
  /** Null when the call could not be counted. */
  budget: BudgetState | null;
  /** Null when there is no record, or none was asked for. */
  brief: Brief | null;
}

export interface RunBatch {
  read(key: HashedKey, pollId: string | null): Promise<RunReply>;
}

interface QueuedRead {
  key: HashedKey;
  pollId: string | null;
  resolve(reply: RunReply): void;
}

export function runBatch({ bus, keys, limiter }: Parts): RunBatch {
  let queue: QueuedRead[] = [];

  function flush(): void {
    const batch = queue;
    queue = [];
    const callers = [...Map.groupBy(batch, ({ key }) => key)].map(([key, calls]) => callerOf(key, calls));
    const polls = new Map<string, number>();
    for (const { pollId } of batch) if (pollId !== null && !polls.has(pollId)) polls.set(pollId, polls.size);

    const pipeline = bus.redis.pipeline();
    keys.appendTo(
      pipeline,
      callers.map(({ key }) => key),
    );
    limiter.appendTo(pipeline, 'session', callers);
    if (polls.size > 0) bus.runs.batch(pipeline, [...polls.keys()]);
    pipeline.exec().then(
      (replies) => distribute(...(replies ?? []).map(([error, reply]) => (error ? null : reply))),
      () => distribute(),
    );

    function distribute(owners?: unknown, counts?: unknown, briefs?: unknown): void {
      for (const [i, { key, reads }] of callers.entries()) {
        const owner = keys.readReply(owners, i, key);
        for (const [place, { pollId, resolve }] of reads.entries()) {
          const budget = counts ? limiter.readReply('session', counts, i, reads.length - 1 - place) : null;
          resolve({ owner, budget, brief: pollId === null ? null : bus.runs.parse(briefs, polls.get(pollId)) });
        }
      }
    }
  }

  return {
    read: (key, pollId) =>
      new Promise((resolve) => {
        if (queue.push({ key, pollId, resolve }) === 1) setImmediate(flush);
      }),
  };
}

/** Counted for the key, because its account is known only afterwards. */
const callerOf = (key: HashedKey, reads: QueuedRead[]) => ({ key, reads, principal: key.name, calls: reads.length });

interface Parts {
  bus: Bus;
  keys: KeyCache;
  limiter: RateLimiter;
}
