import type { TerminationReason } from './stop-rules.ts';
import { lead, type Votes, votesCast } from './tally.ts';

export type ResultStatus = 'success' | 'partial' | 'failed';

/**
 * `failed`: no valid vote. `partial`: votes that the poll wanted and did not get could have changed the outcome, be it
 * to a tie. `success`: everything else, a tie of a full panel included.
 */
export function resultStatus(votes: Votes, missing: number): ResultStatus {
  if (votesCast(votes) === 0) return 'failed';
  return missing > 0 && missing >= lead(votes) ? 'partial' : 'success';
}

/**
 * Votes that an ended poll wanted and did not get: those of models that failed and, where the budget or the deadline
 * (no reason) cut it short, of those never asked. Models that a lock or confidence made unnecessary are not missing:
 * the rule that left them out has taken them into account.
 */
export function votesMissing(reason: TerminationReason | null, failed: number, skipped: number): number {
  switch (reason) {
    case null:
    case 'budget':
      return failed + skipped;
    case 'mathematical_lock':
    case 'confidence':
    case 'roster_exhausted':
      return failed;
  }
}
