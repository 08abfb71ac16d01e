import type { Brief, Bus } from '@eloquentpoll/bus';
import type { KeyCache, KeyOwner } from '../accounts/key-cache.ts';
import type { Budget, RateLimiter } from '../limits/rate-limiter.ts';

// The three questions of a session request (whose key is it, may it call, how does the poll stand) in one round trip,
// together with those of every other request that arrived at the same time: one pipeline per turn of the event loop.
// Requests with the same key share its look-up and are counted in one command, each with its own place in the count.
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
  /** `principal` is whom the call is counted for: the key itself, because its account is only known afterwards. */
  read(key: { hash: Buffer; principal: string }, pollId: string | null): Promise<SessionReply>;
}

interface Asked {
  hash: Buffer;
  principal: string;
  pollId: string | null;
  tell(reply: SessionReply): void;
}

type Replies = readonly (readonly [error: Error | null, reply?: unknown])[];

export function sessionBatch({ bus, keys, limiter }: Parts): SessionBatch {
  let waiting: Asked[] = [];

  function flush(): void {
    const batch = waiting;
    waiting = [];
    const into = bus.redis.pipeline();
    let commands = 0;
    const byKey = Map.groupBy(batch, ({ principal }) => principal);
    const places = new Map<string, number>();
    for (const [principal, calls] of byKey) {
      keys.batch(into, calls[0]!.hash);
      limiter.batch(into, 'session', principal, calls.length);
      places.set(principal, commands);
      commands += 2;
    }
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
      for (const [principal, calls] of byKey) {
        const place = places.get(principal)!;
        const [keyReply, counted] = [at(place), at(place + 1)];
        const owner = keys.read(keyReply);
        for (const [i, { pollId, tell }] of calls.entries()) {
          tell({
            owner,
            budget: counted === undefined ? null : limiter.read('session', counted, calls.length - 1 - i),
            brief: pollId === null ? null : bus.runs.parse(at(places.get(pollId)!)),
          });
        }
      }
    }
  }

  return {
    read: ({ hash, principal }, pollId) =>
      new Promise((tell) => {
        if (waiting.push({ hash, principal, pollId, tell }) === 1) setImmediate(flush);
      }),
  };
}

interface Parts {
  bus: Bus;
  keys: KeyCache;
  limiter: RateLimiter;
}
