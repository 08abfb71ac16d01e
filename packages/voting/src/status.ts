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
 * Votes that an ended poll wanted and did not get: those of models that failed, and those of models that were never
 * asked, unless the rule that left them out has taken all of them into account. Confidence has, as a probability. A
 * lock has as long as no model failed: it says what the models left could change, not what they and the failed ones
 * could have changed together.
 */
export function votesMissing(reason: TerminationReason | null, failed: number, skipped: number): number {
  switch (reason) {
    case null:
    case 'budget':
      return failed + skipped;
    case 'mathematical_lock':
      return failed > 0 ? failed + skipped : 0;
    case 'confidence':
    case 'roster_exhausted':
      return failed;
  }
}
