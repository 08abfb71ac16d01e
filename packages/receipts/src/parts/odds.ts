import { type Chances, chancesInOrder } from '@eloquentpoll/voting/chances';
import { conclude } from '@eloquentpoll/voting/conclude';
import { oddsIn, withFinalOutcomes } from '@eloquentpoll/voting/replay';
import { fails, holds, type PartState } from '../part.ts';
import type { Statement } from '../receipt.ts';
import { hasOwnFinalOdds, outcomesOf, type ReplayedPoll } from './replayed.ts';

/** The order of running calls changes the last digits of a sum. */
const TOLERANCE = 1e-9;

interface Odds {
  readonly confidence?: number | null | undefined;
  readonly chances?: readonly number[] | undefined;
}

/** Checks every figure after every vote by recomputing it. */
export function checkOdds(statement: Statement, { steps, last }: ReplayedPoll): PartState {
  const { votes, decision } = statement;
  const wrong = votes.findIndex((vote, i) => !areSame(vote, steps[i]!));
  if (wrong >= 0) return fails(`The odds after vote ${wrong + 1} are not those that the rules give.`);
  const final = hasOwnFinalOdds(statement)
    ? conclude(withFinalOutcomes(last, outcomesOf(decision.record)), decision)
    : oddsIn(last);
  if (!areSame(decision, final)) return fails('The final odds are not those that the rules give.');
  const figures = [decision, ...votes].flatMap(({ confidence, chances = [] }) =>
    confidence === undefined ? chances : [confidence, ...chances],
  );
  return holds(`${figures.length} figures were worked out once more and are the same.${byOlderRules(statement)}`);
}

/** Under version 2, a partial result could be called certain. */
const byOlderRules = ({ rule, decision }: Statement): string =>
  rule.version < 3 && decision.status === 'partial'
    ? ' By its rules, of version 2, models that failed count as absent from the final ones.'
    : '';

function areSame(said: Odds, found: { confidence: number | null; chances: Chances }): boolean {
  if (said.confidence !== undefined && !isClose(said.confidence, found.confidence)) return false;
  const chances = chancesInOrder(found.chances);
  return (
    said.chances === undefined ||
    (said.chances.length === chances.length && said.chances.every((chance, i) => isClose(chance, chances[i]!)))
  );
}

const isClose = (a: number | null, b: number | null): boolean =>
  a === b || (a !== null && b !== null && Math.abs(a - b) <= TOLERANCE);
