import { isBudgetSpent } from '@eloquentpoll/voting/budget';
import { fails, holds, type PartState, unchecked } from '../part.ts';
import type { ReceiptPrice, Statement } from '../receipt.ts';
import { hasOwnFinalOdds, type ReplayedPoll } from './replayed.ts';

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
      return holds(`No rule had stopped it when its deadline passed or its caller canceled it.${unseen(statement)}`);
    case 'budget':
      if (stop !== null && stop !== 'budget' && !(stop === 'confidence' && isRecordUnseen(statement)))
        return fails(`The rules stop this poll for another reason: ${WHY[stop]}.`);
      if (price === null) return unchecked('That its budget was spent takes the price, which only its owner can show.');
      return stop === 'budget' || isBudgetSpent(last)
        ? holds('What was left of its budget paid for no further vote.')
        : fails('Its budget was not spent.');
    default:
      return stop === reason
        ? holds(
            `After the last vote${isInOrder(statement) ? ', and not before' : ''}, the rules stop it: ${WHY[reason]}.${unseen(statement)}`,
          )
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
function decidedVotes(statement: Statement): number {
  if (!isInOrder(statement)) return 0;
  const { votes, decision } = statement;
  if (decision.reason !== null) return votes.length - 1;
  return votes.findLastIndex(({ error }) => error !== 'timeout' && error !== 'aborted') + 1;
}

/** Votes that were collected before another worker took the poll over have no time. */
const isInOrder = ({ votes }: Statement): boolean => votes.every(({ at_ms }) => at_ms !== undefined);

/**
 * What the track record said after the last vote is not stated, so that the threshold may not have been reached
 * although the votes alone would have.
 */
const isRecordUnseen = (statement: Statement): boolean =>
  statement.rule.record !== undefined && hasOwnFinalOdds(statement) && !isInOrder(statement);

/** What the sentence must add where earlier states could not be examined. */
const unseen = (statement: Statement): string =>
  isInOrder(statement)
    ? ''
    : ' Whether they would have stopped it before cannot be seen, because the order of its votes is not stated.';
