import type { PollSpec, Seat, Vote } from '@eloquentpoll/contracts';
import { newPoll, type PollState, type Rules, received, type TrackRecord, type VotingSeat } from '@eloquentpoll/voting';
import { hedgeOf } from './panel-rules.ts';
import type { PollOrder } from './poll-spec.ts';

// Converts a poll and its votes to the types of `voting`, which counts money in bigint and knows no models.

export const rulesOf = (order: PollOrder): Rules => ({
  optionCount: order.options.length,
  threshold: order.confidence_threshold,
  maxCostU: BigInt(order.max_cost_u),
  minVotes: order.min_votes,
  hedge: hedgeOf(order),
});

export const votingSeat = (seat: Seat): VotingSeat => ({
  family: seat.family,
  reserveU: BigInt(seat.reserve_u),
  failureRate: seat.failure_rate,
});

/**
 * The state after these votes. Without votes, the state before the first call. `record`: the track record of the spec's
 * roster version.
 */
export function pollState(spec: PollSpec, votes: readonly Vote[] = [], record: TrackRecord | null = null): PollState {
  const rules = {
    ...rulesOf(spec),
    ...(spec.track_record && recordRules(spec.track_record, spec.seats.length, record)),
  };
  return votes.reduce(withVote, newPoll(rules, spec.seats.map(votingSeat)));
}

/** If the track record is missing or belongs to another panel, only a lock may stop the poll. */
export function recordRules(
  { order, lock_only }: NonNullable<PollSpec['track_record']>,
  panelSize: number,
  known: TrackRecord | null,
): Pick<Rules, 'order' | 'record'> {
  const record = known?.panelSize === panelSize ? known : { panelSize, situations: new Map(), isAlarmed: true };
  return { order, record: { ...record, isAlarmed: record.isAlarmed || lock_only } };
}

/**
 * Calls that failed because of the question may be billed when the poll is stored, so they count against the budget.
 */
export const withVote = (state: PollState, vote: Pick<Vote, 'seat' | 'option' | 'billed_u' | 'cost'>): PollState =>
  received(state, { seat: vote.seat, option: vote.option, billedU: BigInt(vote.billed_u + (vote.cost?.fault_u ?? 0)) });
