// Every course that a poll can take under the urn, with its probability, before any model is asked. Exact dynamic
// programming over the sorted vote counts, one layer per ended vote: no simulation, so the figures are reproducible.
import { wantedInFlight } from './fan-out.ts';
import { isLocked } from './mathematical-lock.ts';
import { clears, votesToStop } from './need.ts';
import type { Rules } from './poll.ts';
import type { TerminationReason } from './stop-rules.ts';
import { descending, type Votes, votesCast, withVotesFor } from './tally.ts';

/** One way for a poll to end. */
export interface ForecastEnding {
  readonly reason: TerminationReason;
  /** The number of votes that ended. */
  readonly calls: number;
  readonly probability: number;
  readonly time: Time;
}

/** First and second moment of a duration, in units of one mean call. */
export interface Time {
  readonly mean: number;
  readonly square: number;
}

interface Course {
  readonly votes: Votes;
  readonly inFlight: number;
  readonly probability: number;
  readonly time: Time;
}

/**
 * A panel of `panel` models that each fail with probability `phi`; `affordable` of them fit into the budget. Votes do
 * not depend on latencies, so the number of votes is the same for every fan-out, but the duration is not. Calls are
 * assumed to be memoryless: with n calls running, the next vote ends after 1/n on average. Families are assumed to be
 * mixed well enough that their guard never delays a stop.
 */
export function forecast(rules: Rules, panel: number, affordable: number, phi: number): ForecastEnding[] {
  const endings: ForecastEnding[] = [];
  const noVotes = new Array<number>(rules.optionCount).fill(0);
  let courses: readonly Course[] = [{ votes: noVotes, inFlight: 0, probability: 1, time: { mean: 0, square: 0 } }];
  for (let calls = 0; courses.length > 0; calls++) {
    const left = new Array<number>(panel - calls).fill(phi);
    const goingOn: Course[] = [];
    for (const course of courses) {
      const reason = endOf(rules, course.votes, left, affordable - calls);
      if (reason === null) goingOn.push(...nextVote(rules, course, left, affordable - calls));
      else endings.push({ reason, calls, probability: course.probability, time: course.time });
    }
    courses = merged(goingOn);
  }
  return endings;
}

/** The stop rules, for a poll whose seats are not known yet. */
function endOf(rules: Rules, votes: Votes, left: readonly number[], affordable: number): TerminationReason | null {
  if (left.length === 0) return 'roster_exhausted';
  if (isLocked(votes, left.length)) return 'mathematical_lock';
  if (clears(rules, votes, left)) return 'confidence';
  return affordable === 0 ? 'budget' : null;
}

/** All results of the next vote: a failure, or a vote drawn from the urn. */
function nextVote(rules: Rules, course: Course, left: readonly number[], affordable: number): Course[] {
  const { votes, probability } = course;
  const wanted = wantedInFlight(rules.hedge, votesToStop(rules, votes, left), left.length, false);
  const inFlight = Math.max(course.inFlight, Math.min(wanted, affordable));
  const then = { inFlight: inFlight - 1, time: after(course.time, 1 / inFlight) };
  const failing = probability * left[0]!;
  const voting = (probability - failing) / (1 + votesCast(votes));
  return [
    { ...then, votes, probability: failing },
    ...votes.map((count, option) => ({
      ...then,
      votes: descending(withVotesFor(votes, option, 1)),
      probability: voting * (count + 1 / votes.length),
    })),
  ].filter((next) => next.probability > 0);
}

/** It does not matter which option has which count, so courses with the same counts are merged. */
function merged(courses: readonly Course[]): Course[] {
  const alike = Map.groupBy(courses, ({ inFlight, votes }) => `${inFlight} ${votes.join()}`);
  return [...alike.values()].map((same) => {
    const probability = same.reduce((sum, course) => sum + course.probability, 0);
    const average = (of: (time: Time) => number) =>
      same.reduce((sum, course) => sum + course.probability * of(course.time), 0) / probability;
    const time = { mean: average(({ mean }) => mean), square: average(({ square }) => square) };
    return { ...same[0]!, probability, time };
  });
}

/** `time` plus an independent exponential wait. */
const after = ({ mean, square }: Time, wait: number): Time => ({
  mean: mean + wait,
  square: square + 2 * mean * wait + 2 * wait * wait,
});
