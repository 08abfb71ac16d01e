import type { TerminationReason } from './stop-rules.ts';
import { lead, type Votes, votesCast } from './tally.ts';

export type ResultStatus = 'success' | 'partial' | 'failed';

/**
 * `failed`: no valid vote. `partial`: missing votes could have changed the outcome, also to a tie. `success`:
 * everything else, including a tie of the full panel.
 */
export function resultStatus(votes: Votes, missing: number): ResultStatus {
  if (votesCast(votes) === 0) return 'failed';
  return missing > 0 && missing >= lead(votes) ? 'partial' : 'success';
}

/**
 * The number of missing votes of an ended poll: those of failed models, and those of models that were not asked, unless
 * the rule that stopped the poll has accounted for them. Confidence always has, as a probability. A lock has only if no
 * model failed: it shows what the remaining models could change, not what they and the failed ones together could have
 * changed.
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
