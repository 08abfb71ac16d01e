import type { Call } from '../fixture/simulators.ts';
import { percentile } from '../terminal/table.ts';
import type { History } from './history.ts';
import type { PollEvent } from './journal.ts';

// What must hold whatever strikes the workers, one rule each. A rule answers what contradicts it; an empty list is proof
// for this history. Pure, so that the judge itself is tested with histories that break a rule.

export const RESUME_WITHIN_MS = 15_000;
/** A poll is taken from a worker that keeps it 5 s past its deadline, and found by a sweep within 4 s. */
const LATE_MS = 15_000;

export interface Rule {
  readonly name: string;
  readonly broken: (history: History) => string[];
}

export const RULES: readonly Rule[] = [
  {
    name: 'every accepted poll ends exactly once',
    broken({ accepted, journal }) {
      const ends = countBy(journal.filter(isEnd), (event) => event.pollId);
      return accepted
        .filter(({ pollId }) => ends.get(pollId) !== 1)
        .map(({ pollId }) => `${pollId} ended ${ends.get(pollId) ?? 0} times`);
    },
  },
  {
    name: 'every poll ends by its deadline',
    broken({ accepted, journal }) {
      const ends = new Map(journal.filter(isEnd).map((event) => [event.pollId, event.at]));
      return accepted
        .filter(({ pollId, deadlineAt }) => (ends.get(pollId) ?? 0) > deadlineAt + LATE_MS)
        .map(({ pollId, deadlineAt }) => `${pollId} ended ${Math.round(ends.get(pollId)! - deadlineAt)} ms late`);
    },
  },
  {
    name: 'a vote that has arrived is never asked for again',
    broken(history) {
      const arrived = arrivalTimes(history);
      return history.calls
        .filter((call) => call.madeAt > (arrived.get(seatKey(call)) ?? Number.POSITIVE_INFINITY))
        .map((call) => `${seatKey(call)} asked ${call.madeAt - arrived.get(seatKey(call))!} ms after its vote`);
    },
  },
  {
    name: 'a seat is asked once for each claim of its poll',
    broken(history) {
      const claims = claimsOf(history);
      const calls = countBy(firstCalls(history), seatKey);
      return [...calls]
        .filter(([key, count]) => count > (claims.get(key.split(' ')[0]!) ?? 0))
        .map(([key, count]) => `${key} asked ${count} times, ${claims.get(key.split(' ')[0]!) ?? 0} claims`);
    },
  },
  {
    name: 'every vote that is stored was given by a model',
    broken(history) {
      const called = new Set(history.calls.map(seatKey));
      return history.votes
        .filter((vote) => vote.voted && !called.has(seatKey(vote)))
        .map((vote) => `${seatKey(vote)} was never asked`);
    },
  },
  {
    name: 'every poll has exactly one post or void',
    broken({ accepted, settlements }) {
      const settled = new Map(settlements.map((settlement) => [settlement.pollId, settlement]));
      return accepted.flatMap(({ pollId }) => {
        const { posts = 0, voids = 0 } = settled.get(pollId) ?? {};
        return posts + voids === 1 ? [] : [`${pollId}: ${posts} posts, ${voids} voids`];
      });
    },
  },
  {
    name: 'votes are billed once each, failed votes never, and the post is their sum',
    broken({ votes, settlements }) {
      const billed = new Map<string, bigint>();
      for (const { pollId, billedU } of votes) billed.set(pollId, (billed.get(pollId) ?? 0n) + billedU);
      const wrong = votes
        .filter(({ voted, billedU }) => voted !== billedU > 0n)
        .map((vote) => `${seatKey(vote)} ${vote.voted ? 'voted' : 'failed'} and is billed ${vote.billedU}`);
      const twice = [...countBy(votes, seatKey)].filter(([, count]) => count > 1).map(([key]) => `${key} stored twice`);
      const sums = settlements
        .filter(({ pollId, postedU }) => postedU !== (billed.get(pollId) ?? 0n))
        .map(({ pollId, postedU }) => `${pollId}: posted ${postedU}, votes say ${billed.get(pollId) ?? 0n}`);
      return [...wrong, ...twice, ...sums];
    },
  },
  {
    name: 'the ledger has no drift',
    broken: ({ ledger }) => ledger.map(({ rule, subject, found }) => `${rule} ${subject}: ${found}`),
  },
  {
    name: `polls of a killed worker are claimed again, p99 within ${RESUME_WITHIN_MS / 1000} s`,
    broken(history) {
      const p99 = percentile(resumes(history, 'kill'), 0.99);
      return p99 !== null && p99 > RESUME_WITHIN_MS ? [`p99 is ${Math.round(p99)} ms`] : [];
    },
  },
];

/**
 * Milliseconds from each strike to the next claim of each poll that its victim held. A poll that nobody had claimed when
 * a stopped worker went on stayed with that worker, and is not counted.
 */
export function resumes({ strikes, journal }: History, kind: 'kill' | 'stop'): number[] {
  const claims = Map.groupBy(
    journal.filter((event) => event.kind === 'claimed'),
    (event) => event.pollId,
  );
  return strikes
    .filter((strike) => strike.kind === kind)
    .flatMap(({ at, until, held }) =>
      held.flatMap(({ pollId, epoch }) => {
        const next = claims.get(pollId)?.find((claim) => claim.epoch > epoch && claim.at >= at);
        return next === undefined || (kind === 'stop' && next.at > until) ? [] : [next.at - at];
      }),
    );
}

/** Claims beyond the first that no strike explains: a machine so busy that a worker lost its job or its lease. */
export function handsChangedUnstruck(history: History): number {
  const strikes = countBy(
    history.strikes.flatMap((strike) => strike.held),
    (held) => held.pollId,
  );
  return [...claimsOf(history)].filter(([pollId, count]) => count > 1 + (strikes.get(pollId) ?? 0)).length;
}

/** Calls for seats that had been asked before: paid by the operator, never by the customer. */
export function repeatedCalls(history: History): number {
  const calls = firstCalls(history);
  return calls.length - new Set(calls.map(seatKey)).size;
}

/**
 * Calls that were made before their seat's vote had arrived from elsewhere, and reached the model after it: their worker
 * was stopped between the decision and the socket. No fence of ours can catch them; the operator pays, once per stop.
 */
export function callsOnTheirWay(history: History): number {
  const arrived = arrivalTimes(history);
  return firstCalls(history).filter((call) => {
    const voteAt = arrived.get(seatKey(call)) ?? Number.POSITIVE_INFINITY;
    return call.madeAt <= voteAt && call.at > voteAt;
  }).length;
}

const claimsOf = ({ journal }: History): Map<string, number> =>
  countBy(
    journal.filter(({ kind }) => kind === 'claimed'),
    ({ pollId }) => pollId,
  );
const isEnd = (event: PollEvent): boolean => event.kind === 'ended';
const firstCalls = ({ calls }: History): readonly Call[] => calls.filter((call) => call.attempt === 1);
const seatKey = ({ pollId, seat }: { pollId: string; seat: number }): string => `${pollId} seat ${seat}`;

function arrivalTimes({ arrivals, strikes }: History): Map<string, number> {
  const seen = strikes.flatMap(({ at, held }) =>
    held.flatMap(({ pollId, arrived }) => arrived.map((seat) => ({ pollId, seat, at }))),
  );
  const times = new Map<string, number>();
  for (const { at, ...place } of [...arrivals, ...seen]) {
    const key = seatKey(place);
    times.set(key, Math.min(at, times.get(key) ?? Number.POSITIVE_INFINITY));
  }
  return times;
}

function countBy<T>(items: readonly T[], key: (item: T) => string): Map<string, number> {
  const counts = new Map<string, number>();
  for (const item of items) counts.set(key(item), (counts.get(key(item)) ?? 0) + 1);
  return counts;
}
