import type { PollSpec, Seat, Vote } from '@eloquentpoll/contracts';
import { newPoll, type PollState, type Rules, received, type VotingSeat } from '@eloquentpoll/voting';
import { hedgeOf } from './panel-rules.ts';
import type { PollOrder } from './poll-spec.ts';

// A poll and its votes in the terms of `voting`, which counts money in bigint and knows no model.

export const rulesOf = (order: PollOrder): Rules => ({
  optionCount: order.options.length,
  threshold: order.confidence_threshold,
  maxCostU: BigInt(order.max_cost_u),
  minVotes: order.min_votes,
  hedge: hedgeOf(order.panel_name),
});

export const votingSeat = (seat: Seat): VotingSeat => ({
  family: seat.family,
  reserveU: BigInt(seat.reserve_u),
  failureRate: seat.failure_rate,
});

/** The poll after these votes; without any, the poll before its first call. */
export const pollState = (spec: PollSpec, votes: readonly Vote[] = []): PollState =>
  votes.reduce(withVote, newPoll(rulesOf(spec), spec.seats.map(votingSeat)));

/** Calls that the question made fail may be billed when the poll is stored, so the budget counts them too. */
export const withVote = (state: PollState, vote: Vote): PollState =>
  received(state, { seat: vote.seat, option: vote.option, billedU: BigInt(vote.billed_u + (vote.cost?.fault_u ?? 0)) });
