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

// Everything that the poll engine does to the world: claims and results in the store, jobs and progress on the bus, votes
// of models. A simulation puts other things behind these ports and runs the engine unchanged.

export interface RunPoll extends FinishedPoll {
  lane: ServiceTier;
}

/** The polls of Postgres, as far as a worker has to do with them. Every comparison of times is the store's own. */
export interface PollStore {
  /** For LEASE_MS. Null when the poll has ended, another worker holds it, it is unknown, or it has to wait. */
  claim(pollId: string, worker: string): Promise<Claim | null>;
  /** Takes a poll that is past its deadline from its holder. */
  claimOverdue(pollId: string, worker: string, graceMs: number): Promise<Claim | null>;
  /** Those that are still the worker's own. */
  renew(worker: string, leases: readonly Lease[]): Promise<Renewed[]>;
  /** False when the lease was lost before. */
  release(lease: Lease): Promise<boolean>;
  /** Fenced by the epoch of the claim. Storing the same twice stores it once. */
  finish(poll: RunPoll): Promise<Finished>;
  bury(poll: { id: string; epoch: number; reason: string }): Promise<Finish>;
  /** What audits of the roster version say; null when that is not known. */
  trackRecord(version: string): Promise<TrackRecord | null>;
  findLapsed(limit: number, skip: number): Promise<FoundPoll[]>;
  findOverdue(limit: number, graceMs: number): Promise<FoundPoll[]>;
  /** Milliseconds until a lease ends that nothing renews, where that is within so many. */
  nextLapse(withinMs: number): Promise<number | null>;
  /** How long flex polls such as this one, which was not claimed, have no space under the ceiling of provider spend; null where they have. */
  spendWaitMs(pollId: string): Promise<number | null>;
  /** False when another worker is sweeping. */
  sweepAlone(work: () => Promise<unknown>): Promise<boolean>;
  beat(): Promise<void>;
  /** Deletes at most `limit` expired rows of each kind; returns how many in all. */
  prune(limit: number): Promise<number>;
}

export interface PollBus extends Pick<Bus, 'enqueuePoll' | 'consumePolls' | 'queueCounts' | 'queueWaiting'> {
  readonly runs: Pick<RunRecord, 'open' | 'vote' | 'end' | 'takeOver'>;
}

/** Audits that are due, and what is learned from those that were made. */
export interface AuditStore {
  /** False: none is claimed, because they may cost nothing. */
  readonly areMade: boolean;
  claim(lease: Pick<AuditTerms, 'worker' | 'leaseMs' | 'maxAttempts'>): Promise<AuditClaim>;
  /** Safe to repeat. */
  finish(audit: FinishedAudit): Promise<'stored' | 'deleted' | 'dropped' | 'fenced'>;
  /** Brings one track record up to date; false when there was nothing to learn. */
  learn(): Promise<boolean>;
}

/** Settles with a vote whatever the model does, soon after the signal aborts at the latest, and never rejects. */
export type Ask = (request: VoteRequest, options: Required<AskOptions>) => Promise<Vote>;
