import type { Violation } from '@eloquentpoll/storage';
import type { Call } from '../fixture/simulators.ts';
import type { PollEvent } from './journal.ts';
import type { Strike } from './nemesis.ts';

// Everything that happened in an experiment, from four witnesses: the clients (accepted), Postgres (journal, votes,
// ledger), the progress channel (arrivals) and the simulator (calls). Times are milliseconds by one clock.

export interface AcceptedPoll {
  pollId: string;
  at: number;
  deadlineAt: number;
}

/** A vote that stood in the run record at this moment, at the latest. */
export interface Arrival {
  pollId: string;
  seat: number;
  at: number;
}

export interface StoredVote {
  pollId: string;
  seat: number;
  voted: boolean;
  billedU: bigint;
}

export interface Settlement {
  pollId: string;
  posts: number;
  voids: number;
  postedU: bigint;
}

export interface History {
  accepted: readonly AcceptedPoll[];
  journal: readonly PollEvent[];
  strikes: readonly Strike[];
  arrivals: readonly Arrival[];
  calls: readonly Call[];
  votes: readonly StoredVote[];
  settlements: readonly Settlement[];
  ledger: readonly Violation[];
}
