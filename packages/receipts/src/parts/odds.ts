import { type Chances, chancesInOrder } from '@eloquentpoll/voting/chances';
import { conclude } from '@eloquentpoll/voting/conclude';
import { fails, holds, type PartState } from '../part.ts';
import type { Statement } from '../receipt.ts';
import type { ReplayedPoll } from './replayed.ts';

/** The order of running calls changes the last digits of a sum. */
const TOLERANCE = 1e-9;

interface Odds {
  readonly confidence?: number | null | undefined;
  readonly chances?: readonly number[] | undefined;
}

/** Checks every figure after every vote by recomputing it. */
export function checkOdds({ votes, decision }: Statement, { steps, last }: ReplayedPoll): PartState {
  const wrong = votes.findIndex((vote, i) => !areSame(vote, steps[i]!));
  if (wrong >= 0) return fails(`The odds after vote ${wrong + 1} are not those that the rules give.`);
  if (!areSame(decision, conclude(last, decision))) return fails('The final odds are not those that the rules give.');
  const figures = [decision, ...votes].flatMap(({ confidence, chances = [] }) =>
    confidence === undefined ? chances : [confidence, ...chances],
  );
  return holds(`${figures.length} figures were worked out once more and are the same.`);
}

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
