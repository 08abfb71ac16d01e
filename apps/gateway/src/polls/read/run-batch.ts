import type { Brief, Bus } from '@eloquentpoll/bus';
import type { HashedKey } from '../../accounts/keys/hashed-key.ts';
import type { KeyCache, KeyOwner } from '../../accounts/keys/key-cache.ts';
import type { Budget, RateLimiter } from '../../http/rate-limits/rate-limiter.ts';

// The three questions of a session request (whose key is it, may it call, how does the poll stand) in one round trip,
// together with those of every other request that arrived at the same time: one pipeline per turn of the event loop.
// Requests with the same key share its hash and its look-up, and are counted in one command, each with its own place.
// Nothing is remembered from one turn to the next: a key that was revoked before a request came is refused.

export interface SessionReply {
  /** Null when the key is not remembered: then Postgres decides. */
  owner: KeyOwner | null;
  /** Null when the call could not be counted. */
  budget: Budget | null;
  /** Null when there is no record, or none was asked for. */
  brief: Brief | null;
}

export interface SessionBatch {
  read(key: HashedKey, pollId: string | null): Promise<SessionReply>;
}

interface Asked {
  key: HashedKey;
  pollId: string | null;
  tell(reply: SessionReply): void;
}

export function sessionBatch({ bus, keys, limiter }: Parts): SessionBatch {
  let waiting: Asked[] = [];

  function flush(): void {
    const batch = waiting;
    waiting = [];
    const callers = [...Map.groupBy(batch, ({ key }) => key)].map(([key, calls]) => callerOf(key, calls));
    const polls = new Map<string, number>();
    for (const { pollId } of batch) if (pollId !== null && !polls.has(pollId)) polls.set(pollId, polls.size);

    const into = bus.redis.pipeline();
    keys.appendTo(
      into,
      callers.map(({ key }) => key),
    );
    limiter.batch(into, 'session', callers);
    if (polls.size > 0) bus.runs.batch(into, [...polls.keys()]);
    into.exec().then(
      (replies) => hand(...(replies ?? []).map(([error, reply]) => (error ? null : reply))),
      () => hand(),
    );

    function hand(owners?: unknown, counts?: unknown, briefs?: unknown): void {
      for (const [i, { asked }] of callers.entries()) {
        const owner = keys.readReply(owners, i);
        for (const [place, { pollId, tell }] of asked.entries()) {
          const budget = counts ? limiter.read('session', counts, i, asked.length - 1 - place) : null;
          tell({ owner, budget, brief: pollId === null ? null : bus.runs.parse(briefs, polls.get(pollId)) });
        }
      }
    }
  }

  return {
    read: (key, pollId) =>
      new Promise((tell) => {
        if (waiting.push({ key, pollId, tell }) === 1) setImmediate(flush);
      }),
  };
}

/** Counted for the key itself, because its account is only known afterwards. */
const callerOf = (key: HashedKey, asked: Asked[]) => ({ key, asked, principal: key.name, calls: asked.length });

interface Parts {
  bus: Bus;
  keys: KeyCache;
  limiter: RateLimiter;
}
