// A poll whose right answer is known, once more from its votes: where it stood, and where other thresholds would have
// stopped it. A poll that stopped early says nothing about votes that were not asked.
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
  /** What a vote of the model usually costs, for one that is never asked in any poll. */
  readonly typicalCost: number;
}

export interface GoldVote extends ReplayedVote {
  readonly cost: number;
}

export interface GoldPoll {
  /** As it was run. */
  readonly rules: Rules;
  readonly seats: readonly GoldSeat[];
  /** In the order in which they were heard, where it has its course. */
  readonly votes: readonly GoldVote[];
  /** Why it ended; null for its deadline. */
  readonly reason: TerminationReason | null;
  /** False where the order of its votes is not known any more, nor what was said on the way. */
  readonly hasCourse: boolean;
  readonly answer: number;
}

export interface GoldCourse {
  /** After each vote. */
  readonly steps: readonly CourseStep[];
  /** What the whole panel elects; undefined where the votes do not show it. */
  readonly elected: number | null | undefined;
}

interface CourseStep {
  readonly leader: number | null;
  readonly confidence: number | null;
  /** The highest threshold at which it would have stopped here; null where it would have asked on at any. */
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

/** What it came to as it was asked. */
export const asAsked = (poll: GoldPoll, course: GoldCourse): StoppedPoll =>
  stoppedAfter(poll, course, poll.votes.length);

/** What a poll with its course would have come to at this threshold; null where it had stopped before. */
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
