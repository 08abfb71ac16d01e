import type { Brief, Bus } from '@eloquentpoll/bus';
import type { KeyCache, KeyOwner } from '../accounts/key-cache.ts';
import type { Budget, RateLimiter } from '../limits/rate-limiter.ts';

// The three questions of a session request (whose key is it, may it call, how does the poll stand) in one round trip,
// together with those of every other request that arrived at the same time: one pipeline per turn of the event loop.
// Requests with the same key share its hash and its look-up, and are counted in one command, each with its own place.
// Nothing is remembered from one turn to the next: a key that was revoked before a request came is refused.

export interface SessionReply {
  /** What the key is stored under. */
  hash: Buffer;
  /** Null when the key is not remembered: then Postgres decides. */
  owner: KeyOwner | null;
  /** Null when the call could not be counted. */
  budget: Budget | null;
  /** Null when there is no record, or none was asked for. */
  brief: Brief | null;
}

export interface SessionBatch {
  read(key: string, pollId: string | null): Promise<SessionReply>;
}

interface Asked {
  key: string;
  pollId: string | null;
  tell(reply: SessionReply): void;
}

type Replies = readonly (readonly [error: Error | null, reply?: unknown])[];

export function sessionBatch({ bus, keys, limiter, hashOf }: Parts): SessionBatch {
  let waiting: Asked[] = [];

  function flush(): void {
    const batch = waiting;
    waiting = [];
    const into = bus.redis.pipeline();
    let commands = 0;
    const callers = [...Map.groupBy(batch, ({ key }) => key)].map(([key, calls]) => ({ hash: hashOf(key), calls }));
    for (const { hash, calls } of callers) {
      keys.batch(into, hash);
      limiter.batch(into, 'session', principalOfHash(hash), calls.length);
      commands += 2;
    }
    const places = new Map<string, number>();
    for (const { pollId } of batch) {
      if (pollId === null || places.has(pollId)) continue;
      bus.runs.batch(into, pollId);
      places.set(pollId, commands++);
    }
    into.exec().then(
      (replies) => hand(replies ?? []),
      () => hand([]),
    );

    function hand(replies: Replies): void {
      const at = (place: number): unknown => (replies[place]?.[0] === null ? replies[place][1] : undefined);
      for (const [i, { hash, calls }] of callers.entries()) {
        const owner = keys.read(at(2 * i));
        const counted = at(2 * i + 1);
        for (const [place, { pollId, tell }] of calls.entries()) {
          tell({
            hash,
            owner,
            budget: counted === undefined ? null : limiter.read('session', counted, calls.length - 1 - place),
            brief: pollId === null ? null : bus.runs.parse(at(places.get(pollId)!)),
          });
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

/** Whom a session request is counted for: the key itself, because its account is only known afterwards. */
export const principalOfHash = (hash: Buffer): string => hash.toString('base64url');

interface Parts {
  bus: Bus;
  keys: KeyCache;
  limiter: RateLimiter;
  hashOf(key: string): Buffer;
}
