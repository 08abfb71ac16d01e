import { lead, type Votes, votesCast } from './tally.ts';

export type PollStatus = 'success' | 'partial' | 'failed';

/**
 * `failed`: nobody voted. `partial`: votes that the poll wanted and did not get could have changed the outcome, be it
 * to a tie. `success`: everything else, a tie of a full panel included.
 *
 * Missing are the votes of models that failed and, where the budget or the deadline cut the poll short, of those that
 * were never asked. Models that a lock or confidence made unnecessary are not missing: the rule that left them out has
 * taken them into account, a lock with certainty and confidence with the probability that the result states.
 */
export function pollStatus(votes: Votes, missing: number): PollStatus {
  if (votesCast(votes) === 0) return 'failed';
  return missing > 0 && missing >= lead(votes) ? 'partial' : 'success';
}
