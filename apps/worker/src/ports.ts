import type { Bus, RunRecord } from '@eloquentpoll/bus';
import type { ServiceTier, Vote } from '@eloquentpoll/contracts';
import type { AskOptions, VoteRequest } from '@eloquentpoll/models/ask';
import type {
  AuditClaim,
  AuditTerms,
  Claim,
  Finish,
  Finished,
  FinishedAudit,
  FinishedPoll,
  FoundPoll,
  Lease,
  Renewed,
} from '@eloquentpoll/storage';
import type { TrackRecord } from '@eloquentpoll/voting';

// Every effect of the poll engine: claims and results in the store, jobs and progress on the bus, votes of models. A
// simulation replaces what is behind these ports and runs the engine unchanged.

export interface RunPoll extends FinishedPoll {
  lane: ServiceTier;
}

/** What a worker needs of the polls in Postgres. All times are compared by the clock of the store. */
export interface PollStore {
  /** Claims for LEASE_MS. Null if the poll has ended, is unknown or has to wait, or if another worker holds it. */
  claim(pollId: string, worker: string): Promise<Claim | null>;
  /** Takes a poll from its holder if it is past its deadline. */
  claimOverdue(pollId: string, worker: string, graceMs: number): Promise<Claim | null>;
  /** Returns the leases that are still the worker's. */
  renew(worker: string, leases: readonly Lease[]): Promise<Renewed[]>;
  /** False if the lease was already lost. */
  release(lease: Lease): Promise<boolean>;
  /** Fenced by the claim's epoch, and idempotent. */
  finish(poll: RunPoll): Promise<Finished>;
  bury(poll: { id: string; epoch: number; reason: string }): Promise<Finish>;
  /** What audits found for the roster version. Null if unknown. */
  trackRecord(version: string): Promise<TrackRecord | null>;
  findLapsed(limit: number, skip: number): Promise<FoundPoll[]>;
  findOverdue(limit: number, graceMs: number): Promise<FoundPoll[]>;
  /** Milliseconds until the next lease lapses that its worker does not renew. Null if none does within `withinMs`. */
  nextLapse(withinMs: number): Promise<number | null>;
  /**
   * How long flex polls like this one, which could not be claimed, must wait for space under the ceiling of provider
   * spend. Null if there is space.
   */
  spendWaitMs(pollId: string): Promise<number | null>;
  /** False if another worker is sweeping. */
  sweepAlone(work: () => Promise<unknown>): Promise<boolean>;
  beat(): Promise<void>;
  /** Deletes at most `limit` expired rows of each kind; returns how many in all. */
  prune(limit: number): Promise<number>;
}

export interface PollBus extends Pick<Bus, 'enqueuePoll' | 'consumePolls' | 'queueCounts' | 'queueWaiting'> {
  readonly runs: Pick<RunRecord, 'open' | 'vote' | 'end' | 'takeOver'>;
}

/** Audits that are due, and learning from those that are finished. */
export interface AuditStore {
  /** False: no audit is claimed, because none may cost anything. */
  readonly areMade: boolean;
  claim(lease: Pick<AuditTerms, 'worker' | 'leaseMs' | 'maxAttempts'>): Promise<AuditClaim>;
  /** Idempotent. */
  finish(audit: FinishedAudit): Promise<'stored' | 'deleted' | 'dropped' | 'fenced'>;
  /** Updates one track record. False if there was nothing to learn. */
  learn(): Promise<boolean>;
}

/** Always settles with a vote, at the latest soon after the signal aborts. Never rejects. */
export type Ask = (request: VoteRequest, options: Required<AskOptions>) => Promise<Vote>;
