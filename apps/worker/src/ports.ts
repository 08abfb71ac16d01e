import type { Bus, RunRecord } from '@eloquentpoll/bus';
import type { PollSpec, Vote } from '@eloquentpoll/contracts';
import type { Claim, Finish, FinishedPoll, Lease } from '@eloquentpoll/storage';

// All that the poll engine does to the world, and nothing else: claims and results in the store, jobs and progress on
// the bus, votes asked of models. Whoever puts other things behind these ports runs the engine unchanged, which is how
// a simulation kills it at every step.

/** The polls of Postgres, as far as a worker has to do with them. Every comparison of times is the store's own. */
export interface PollStore {
  /** For LEASE_MS. Null when the poll has ended, another worker holds it, or it is unknown. */
  claim(pollId: string, worker: string): Promise<Claim | null>;
  /** Takes a poll that is past its deadline from its holder. */
  claimOverdue(pollId: string, worker: string, graceMs: number): Promise<Claim | null>;
  /** Answers the ids that are still the worker's own. */
  renew(worker: string, leases: readonly Lease[]): Promise<string[]>;
  /** False when the lease was not ours any more. */
  release(lease: Lease): Promise<boolean>;
  /** Fenced by the epoch of the claim. Storing the same twice stores it once. */
  finish(poll: FinishedPoll): Promise<Finish>;
  bury(poll: { id: string; epoch: number; reason: string }): Promise<Finish>;
  findLapsed(limit: number): Promise<Lease[]>;
  findOverdue(limit: number, graceMs: number): Promise<Lease[]>;
  /** False when another worker is sweeping. */
  sweepAlone(work: () => Promise<unknown>): Promise<boolean>;
  beat(): Promise<void>;
  /** Deletes at most `limit` rows of each kind that nobody may use any more; answers how many in all. */
  prune(limit: number): Promise<number>;
}

export interface PollBus extends Pick<Bus, 'enqueuePoll' | 'consumePolls'> {
  readonly runs: Pick<RunRecord, 'open' | 'vote' | 'end' | 'takeOver'>;
}

export interface Asking {
  pollId: string;
  spec: PollSpec;
  seat: number;
  timeLeftMs: number;
  signal: AbortSignal;
  /** Resolves once the lease is known to be ours: waited for before each call. */
  confirmed(): Promise<void>;
}

/** Settles with a vote whatever the model does, soon after the signal aborts at the latest, and never rejects. */
export type Ask = (asking: Asking) => Promise<Vote>;
