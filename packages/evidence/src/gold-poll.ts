// Replays a poll with a known answer from its votes: its states, and where other thresholds would have stopped it. If a
// poll stopped early, nothing is known about the votes that were not asked.
import {
  highestStop,
  isSettled,
  newPoll,
  type ReplayedVote,
  type Rules,
  standing,
  statesAfter,
  type TerminationReason,
  type VotingSeat,
} from '@eloquentpoll/voting';
import type { StoppedPoll } from './stop-sums.ts';

export interface GoldSeat extends VotingSeat {
  readonly model: string;
  /** The typical cost of a vote of the model, for models that are never asked in any poll. */
  readonly typicalCost: number;
}

export interface GoldVote extends ReplayedVote {
  readonly cost: number;
}

export interface GoldPoll {
  /** The rules with which the poll was run. */
  readonly rules: Rules;
  readonly seats: readonly GoldSeat[];
  /** In order of arrival, if `hasCourse`. */
  readonly votes: readonly GoldVote[];
  /** Why the poll ended. Null for its deadline. */
  readonly reason: TerminationReason | null;
  /** As its result states it. Null without a winner. */
  readonly confidence: number | null;
  /** False if the order of the votes and the confidence after each are no longer known. */
  readonly hasCourse: boolean;
  readonly answer: number;
}

export interface GoldCourse {
  /** The state after each vote. */
  readonly steps: readonly CourseStep[];
  /** What the full panel elects. Undefined if the votes do not show it. */
  readonly elected: number | null | undefined;
}

interface CourseStep {
  readonly leader: number | null;
  readonly confidence: number | null;
  /** The highest threshold at which the poll would have stopped here. Null if it would have continued at any. */
  readonly highestStop: number | null;
}

export function goldCourse({ rules, seats, votes }: GoldPoll): GoldCourse {
  const states = statesAfter(newPoll(rules, seats), votes);
  const steps = states.map((state) => {
    const { leader, confidence } = standing(state);
    return { leader, confidence, highestStop: highestStop(state) };
  });
  const last = states.at(-1);
  return { steps, elected: last !== undefined && isSettled(last) ? steps.at(-1)!.leader : undefined };
}

/** The outcome of the poll as it was run. */
export const asAsked = (poll: GoldPoll, course: GoldCourse): StoppedPoll =>
  stoppedAfter(poll, course, poll.votes.length);

/** The outcome of a poll with course at this threshold. Null if the poll had stopped too early to know. */
export function stoppedAt(poll: GoldPoll, course: GoldCourse, threshold: number): StoppedPoll | null {
  if (threshold === poll.rules.threshold) return asAsked(poll, course);
  const at = course.steps.findIndex((step) => step.highestStop !== null && step.highestStop >= threshold);
  if (at >= 0) return stoppedAfter(poll, course, at + 1);
  return poll.reason === 'confidence' ? null : asAsked(poll, course);
}

function stoppedAfter({ seats, votes, answer }: GoldPoll, { steps, elected }: GoldCourse, calls: number): StoppedPoll {
  return {
    panelSize: seats.length,
    calls,
    cost: votes.slice(0, calls).reduce((sum, vote) => sum + vote.cost, 0),
    winner: steps[calls - 1]?.leader ?? null,
    elected,
    answer,
  };
}
