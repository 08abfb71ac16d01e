import { isBudgetSpent } from '@eloquentpoll/voting/budget';
import { fails, holds, type PartState, unchecked } from '../part.ts';
import type { ReceiptPrice, Statement } from '../receipt.ts';
import type { ReplayedPoll } from './replayed.ts';

const WHY = {
  mathematical_lock: 'no vote left could change the winner',
  confidence: 'the threshold was reached',
  budget: 'no further vote could be paid',
  roster_exhausted: 'every model was heard',
} as const;

/** Checks that the poll stopped where its rules stop it, for that reason, and not later. */
export function checkDecision(
  statement: Statement,
  { steps, last }: ReplayedPoll,
  price: ReceiptPrice | null,
): PartState {
  const { reason } = statement.decision;
  const late = steps.slice(0, decidedVotes(statement)).findIndex(({ stop }) => stop !== null && stop !== 'budget');
  if (late >= 0) return fails(`The rules stop this poll after vote ${late + 1} already: ${WHY[steps[late]!.stop!]}.`);
  // Without prices every seat fits, so the replayed rules never stop for `budget`.
  const stop = steps.at(-1)?.stop ?? (price !== null && isBudgetSpent(last) ? 'budget' : null);
  switch (reason) {
    case null:
      return holds('No rule had stopped it when its deadline passed or its caller canceled it.');
    case 'budget':
      if (stop !== null && stop !== 'budget')
        return fails(`The rules stop this poll for another reason: ${WHY[stop]}.`);
      if (price === null) return unchecked('That its budget was spent takes the price, which only its owner can show.');
      return stop === 'budget'
        ? holds('What was left of its budget paid for no further vote.')
        : fails('Its budget was not spent.');
    default:
      return stop === reason
        ? holds(`After the last vote, and not before, the rules stop it: ${WHY[reason]}.`)
        : fails(
            stop === null
              ? 'The rules do not stop this poll here.'
              : `The rules stop it for another reason: ${WHY[stop]}.`,
          );
  }
}

/**
 * The number of first votes after which the poll decided to continue. The deadline and the caller end all running calls
 * at once.
 */
function decidedVotes({ votes, decision }: Statement): number {
  const isInOrder = votes.every(({ at_ms }) => at_ms !== undefined);
  if (!isInOrder) return 0;
  if (decision.reason !== null) return votes.length - 1;
  return votes.findLastIndex(({ error }) => error !== 'timeout' && error !== 'aborted') + 1;
}
