import type { Brief, Bus } from '@eloquentpoll/bus';
import type { KeyOwner } from '../../accounts/keys/cached-owner.ts';
import type { HashedKey } from '../../accounts/keys/hashed-key.ts';
import type { KeyCache } from '../../accounts/keys/key-cache.ts';
import type { BudgetState, RateLimiter } from '../../http/rate-limits/rate-limiter.ts';

// Reads key, budget and run of all status requests that arrive in one turn of the event loop, in one write to Redis.
// Requests with the same key share a look-up and a counter. Nothing outlives the turn, so a revocation works at once.

export interface RunReply {
  /** Null when the key is not cached; then Postgres decides. */
  owner: KeyOwner | null;
  /** Null when Redis could not count the call. */
  budget: BudgetState | null;
  /** Null when there is no record, or when none was requested. */
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

  async function flush(): Promise<void> {
    const batch = queue;
    queue = [];
    const callers = [...Map.groupBy(batch, ({ key }) => key)].map(([key, calls]) => callerOf(key, calls));
    const polls = new Map<string, number>();
    for (const { pollId } of batch) if (pollId !== null && !polls.has(pollId)) polls.set(pollId, polls.size);

    const [owners, counts, briefs] = await Promise.all([
      keys.findCached(callers.map(({ key }) => key)),
      limiter.count('session', callers),
      bus.runs.briefs([...polls.keys()]).catch(() => []),
    ]);
    for (const [i, { reads }] of callers.entries()) {
      const owner = owners[i] ?? null;
      const counted = counts[i] ?? null;
      for (const [place, { pollId, resolve }] of reads.entries()) {
        const budget = counted && limiter.budgetOf('session', counted, reads.length - 1 - place);
        resolve({ owner, budget, brief: (pollId !== null && briefs[polls.get(pollId)!]) || null });
      }
    }
  }

  return {
    read: (key, pollId) =>
      new Promise((resolve) => {
        if (queue.push({ key, pollId, resolve }) === 1) setImmediate(() => void flush());
      }),
  };
}

/** Counted for the key, because the account is known only afterwards. */
const callerOf = (key: HashedKey, reads: QueuedRead[]) => ({ key, reads, principal: key.name, calls: reads.length });

interface Parts {
  bus: Bus;
  keys: KeyCache;
  limiter: RateLimiter;
}
