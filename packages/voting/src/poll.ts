// A running poll as an immutable value: its rules, its seats in asking order, and the state of each seat. A seat is
// asked at most once, its vote counts at most once, and spent plus reserved money never exceeds the poll's maximum
// cost.
import type { AskingOrder } from './asking-order.ts';
import { budgetLeftU } from './budget.ts';
import type { Bar } from './need.ts';

/** Running calls beyond the need: every seat at once, one more, or one more while the oldest call is slow. */
export type Hedge = 'all' | 'one' | 'when_slow' | 'none';

export interface Rules extends Bar {
  readonly optionCount: number;
  /** Micro-USD. */
  readonly maxCostU: bigint;
  readonly hedge: Hedge;
  /** The order of the seats; default: shuffled. Estimates depend on it, decisions use the seats as given. */
  readonly order?: AskingOrder;
}

export interface VotingSeat {
  /** The lab that trained the model. Votes of one family are not independent. */
  readonly family: string;
  /** The maximum cost of this seat's vote, in micro-USD. */
  readonly reserveU: bigint;
  /** Probability that the model gives no vote. 0 if unknown. */
  readonly failureRate: number;
}

export type SeatState =
  | { readonly kind: 'waiting' }
  | { readonly kind: 'in_flight' }
  | { readonly kind: 'failed'; readonly billedU: bigint }
  | { readonly kind: 'voted'; readonly option: number; readonly billedU: bigint };

export interface PollState {
  readonly rules: Rules;
  readonly seats: readonly VotingSeat[];
  /** One entry per seat. */
  readonly states: readonly SeatState[];
}

/** A vote that ended: for an option, or null if the model gave none. */
export interface EndedVote {
  readonly seat: number;
  readonly option: number | null;
  readonly billedU: bigint;
}

export function newPoll(rules: Rules, seats: readonly VotingSeat[]): PollState {
  if (!(rules.optionCount >= 2)) throw new RangeError('a poll has at least two options');
  if (!(rules.threshold >= 0 && rules.threshold <= 1)) throw new RangeError('a threshold lies between 0 and 1');
  if (seats.length === 0) throw new RangeError('a poll has at least one seat');
  return { rules, seats, states: seats.map(() => ({ kind: 'waiting' })) };
}

/** Marks these seats as asked. Throws for a seat that was asked before or does not fit into the budget. */
export function launched(poll: PollState, seats: readonly number[]): PollState {
  const states = [...poll.states];
  let leftU = budgetLeftU(poll);
  for (const seat of seats) {
    if (stateOf({ states }, seat).kind !== 'waiting') throw new RangeError(`seat ${seat} was asked before`);
    leftU -= poll.seats[seat]!.reserveU;
    if (leftU < 0n) throw new RangeError(`seat ${seat} exceeds the budget`);
    states[seat] = { kind: 'in_flight' };
  }
  return { ...poll, states };
}

/**
 * Adds an ended vote. Only the first vote of a seat counts, so a poll can be resumed by replaying its log. Throws if a
 * vote costs more than was reserved for it.
 */
export function received(poll: PollState, { seat, option, billedU }: EndedVote): PollState {
  const before = stateOf(poll, seat);
  if (before.kind === 'voted' || before.kind === 'failed') return poll;
  if (billedU > poll.seats[seat]!.reserveU) throw new RangeError(`seat ${seat} was billed more than its reserve`);
  if (option === null) return { ...poll, states: poll.states.with(seat, { kind: 'failed', billedU }) };
  if (!(Number.isInteger(option) && option >= 0 && option < poll.rules.optionCount))
    throw new RangeError(`seat ${seat} voted for an option that the poll does not have`);
  return { ...poll, states: poll.states.with(seat, { kind: 'voted', option, billedU }) };
}

function stateOf({ states }: Pick<PollState, 'states'>, seat: number): SeatState {
  const state = states[seat];
  if (state === undefined) throw new RangeError(`the poll has no seat ${seat}`);
  return state;
}
