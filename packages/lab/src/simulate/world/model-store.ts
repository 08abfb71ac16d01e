import type { Vote } from '@eloquentpoll/contracts';
import { laneOf } from '@eloquentpoll/polls';
import {
  type Acceptance,
  type Accepted,
  type Claim,
  type Finish,
  type Finished,
  type FinishedPoll,
  type FoundPoll,
  LEASE_MS,
  type Lease,
  type Renewed,
} from '@eloquentpoll/storage';
import { type Books, modelLedger, Refused } from './model-ledger.ts';

// What Postgres does for the poll engine, in memory; each call is one transaction. A contract test compares it with the
// real store, command by command; if they differ, this file is wrong.

export interface PollRow {
  readonly id: string;
  readonly accountId: string;
  readonly acceptance: Acceptance;
  readonly createdAt: number;
  readonly deadlineAt: number;
  status: 'running' | 'completed' | 'failed';
  leaseOwner: string | null;
  leaseEpoch: number;
  leaseUntil: number;
  claims: number;
  finishedAt: number | null;
  votes: readonly Vote[];
  /** The stored response; null while the poll runs and if it was buried. */
  detail: string | null;
  deadLetter: string | null;
}

export interface ModelStore {
  credit(accountId: string, amountU: bigint): void;
  accept(acceptance: Acceptance): Accepted;
  claim(pollId: string, worker: string): Claim | null;
  claimOverdue(pollId: string, worker: string, graceMs: number): Claim | null;
  renew(worker: string, leases: readonly Lease[]): Renewed[];
  release(lease: Lease): boolean;
  finish(poll: FinishedPoll): Finished;
  bury(poll: { id: string; epoch: number; reason: string }): Finish;
  findLapsed(limit: number, skip?: number): FoundPoll[];
  findOverdue(limit: number, graceMs: number): FoundPoll[];
  nextLapse(withinMs: number): number | null;
  readonly polls: ReadonlyMap<string, PollRow>;
  readonly books: Books;
}

/** How long a newly accepted poll is left to the queue before a sweep may claim it. */
const FIRST_CLAIM_MS = 5_000;

const askedBy = ({ poll: { tenant, isAwaited = false } }: Acceptance) => ({ tenant: tenant ?? null, isAwaited });

export function modelStore(now: () => number): ModelStore {
  const polls = new Map<string, PollRow>();
  const keys = new Map<string, { fingerprint: string; pollId: string }>();
  const books = modelLedger();

  function accept(acceptance: Acceptance): Accepted {
    const { poll, holdU, idempotency } = acceptance;
    if (poll.accountId === null) throw new Refused('free polls are not modelled');
    const scope = idempotency && JSON.stringify([idempotency.principal, poll.entryPoint, idempotency.key]);
    const known = scope === undefined ? undefined : keys.get(scope);
    if (known && known.fingerprint !== idempotency?.fingerprint) return { kind: 'reused' };
    if (known && known.pollId !== poll.id) return { kind: 'joined', pollId: known.pollId };
    const keep = () => {
      if (scope !== undefined && idempotency)
        keys.set(scope, { fingerprint: idempotency.fingerprint, pollId: poll.id });
    };
    if (polls.has(poll.id)) {
      keep();
      return { kind: 'accepted', pollId: poll.id, rank: 0 };
    }
    if (!books.hold(poll.accountId, holdU > 1n ? holdU : 1n, poll.id))
      return { kind: 'insufficient', settlingU: 0n, availableU: books.availableU(poll.accountId), retryAfterS: null };
    keep();
    polls.set(poll.id, {
      id: poll.id,
      accountId: poll.accountId,
      acceptance,
      createdAt: now(),
      deadlineAt: now() + poll.deadlineMs,
      status: 'running',
      leaseOwner: null,
      leaseEpoch: 0,
      leaseUntil: now() + FIRST_CLAIM_MS,
      claims: 0,
      finishedAt: null,
      votes: [],
      detail: null,
      deadLetter: null,
    });
    return { kind: 'accepted', pollId: poll.id, rank: 0 };
  }

  function take(poll: PollRow, worker: string): Claim {
    poll.leaseEpoch += 1;
    poll.leaseOwner = worker;
    poll.leaseUntil = now() + LEASE_MS;
    poll.claims += 1;
    const { poll: asked } = poll.acceptance;
    return {
      id: poll.id,
      resultId: asked.resultId,
      accountId: poll.accountId,
      ...askedBy(poll.acceptance),
      epoch: poll.leaseEpoch,
      claims: poll.claims,
      spec: asked.spec,
      schemaVersion: 1,
      entryPoint: asked.entryPoint,
      requestId: asked.requestId ?? null,
      traceparent: asked.traceparent ?? null,
      auditVersion: asked.auditVersion ?? null,
      isCanceled: false,
      createdAt: new Date(poll.createdAt),
      deadlineAt: new Date(poll.deadlineAt),
      ageMs: Math.max(0, Math.ceil(now() - poll.createdAt)),
      remainingMs: Math.max(0, Math.ceil(poll.deadlineAt - now())),
    };
  }

  const running = (id: string): PollRow | null => {
    const poll = polls.get(id);
    return poll?.status === 'running' ? poll : null;
  };

  function end(id: string, epoch: number, status: 'completed' | 'failed', votes: readonly Vote[]): PollRow | Finish {
    const poll = polls.get(id);
    if (poll?.leaseEpoch !== epoch) return 'fenced';
    if (poll.status !== 'running') return 'stored';
    if (new Set(votes.map((vote) => vote.seat)).size !== votes.length) throw new Refused('two votes of a seat');
    if (votes.some((vote) => vote.billed_u > 0 && vote.option === null)) throw new Refused('no vote, yet billed');
    const billedU = votes.reduce((sum, vote) => sum + BigInt(vote.billed_u), 0n);
    if (!books.resolve(id, billedU)) throw new Refused('the hold was resolved before its poll ended');
    poll.status = status;
    poll.finishedAt = now();
    poll.leaseOwner = null;
    poll.leaseUntil = now();
    poll.votes = votes;
    return poll;
  }

  const isOverdue = ({ deadlineAt, claims }: PollRow, graceMs: number): boolean =>
    deadlineAt < now() - graceMs * 2 ** Math.max(0, Math.min(claims - 1, 10));

  const leases = (rows: PollRow[], limit: number): FoundPoll[] =>
    rows
      .filter((poll) => poll.status === 'running')
      .toSorted((a, b) => a.deadlineAt - b.deadlineAt)
      .slice(0, limit)
      .map(({ id, leaseEpoch, acceptance }) => ({
        ...{ id, epoch: leaseEpoch, ...askedBy(acceptance) },
        lane: laneOf(acceptance.poll.spec),
      }));

  return {
    polls,
    books,
    credit: (accountId, amountU) => books.credit(accountId, amountU),
    accept,
    claim(pollId, worker) {
      const poll = running(pollId);
      if (!poll || (poll.leaseOwner !== null && poll.leaseUntil >= now())) return null;
      return take(poll, worker);
    },
    claimOverdue(pollId, worker, graceMs) {
      const poll = running(pollId);
      if (!poll || !isOverdue(poll, graceMs)) return null;
      return take(poll, worker);
    },
    renew(worker, held) {
      const ours = held.filter(({ id, epoch }) => {
        const poll = running(id);
        return poll?.leaseEpoch === epoch && poll.leaseOwner === worker;
      });
      for (const { id } of ours) polls.get(id)!.leaseUntil = now() + LEASE_MS;
      // In a simulated world, callers do not cancel.
      return ours.map(({ id }) => ({ id, isCanceled: false, leftMs: LEASE_MS }));
    },
    release({ id, epoch }) {
      const poll = running(id);
      if (poll?.leaseEpoch !== epoch || poll.leaseOwner === null) return false;
      poll.leaseOwner = null;
      poll.leaseUntil = now();
      poll.claims -= 1;
      return true;
    },
    finish({ id, epoch, votes, response }) {
      if (votes.some((vote) => vote.cost && vote.cost.fault_u > 0)) throw new Refused('charges are not modelled');
      const poll = end(id, epoch, response.status === 'failed' ? 'failed' : 'completed', votes);
      if (poll === 'fenced') return { outcome: poll };
      if (poll !== 'stored') poll.detail = JSON.stringify(response);
      return { outcome: 'stored', response, votes, unvotedU: 0 };
    },
    bury({ id, epoch, reason }) {
      const poll = end(id, epoch, 'failed', []);
      if (typeof poll === 'string') return poll;
      poll.deadLetter = reason;
      return 'stored';
    },
    findLapsed: (limit, skip = 0) =>
      leases(
        [...polls.values()].filter((poll) => poll.leaseUntil < now()),
        skip + limit,
      ).slice(skip),
    nextLapse(withinMs) {
      const held = [...polls.values()].filter(({ status, leaseEpoch }) => status === 'running' && leaseEpoch > 0);
      const left = held.map(({ leaseUntil }) => leaseUntil - now()).filter((ms) => ms >= 0 && ms < withinMs);
      return left.length === 0 ? null : Math.min(...left);
    },
    findOverdue: (limit, graceMs) =>
      leases(
        [...polls.values()].filter((poll) => isOverdue(poll, graceMs)),
        limit,
      ),
  };
}
