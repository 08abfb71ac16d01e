// The odds of every option and of a tie once every model left has voted or failed: the same rule as confidence, which
// is the leader's part of it.
import { confidenceAmong, winChance } from './confidence.ts';
import { oncePerPoll } from './once-per-poll.ts';
import { confidenceOf, tally, unresolvedFailureRates } from './standing.ts';
import { leader, type Votes } from './tally.ts';
import type { TrackRecord } from './track-record.ts';
import { turnout } from './turnout.ts';

export interface Chances {
  /** Per option: the probability that it is the unique winner. */
  readonly options: readonly number[];
  /** That no option is: a tie, or no vote at all. */
  readonly tie: number;
}

/** Sums to 1; the leader's chance is its confidence. What a track record takes from the leader, the others share. */
export const chances = (votes: Votes, failureRates: readonly number[], record?: TrackRecord): Chances =>
  chancesBeside(confidenceAmong(votes, failureRates, record), votes, failureRates);

function chancesBeside(confidence: number | null, votes: Votes, failureRates: readonly number[]): Chances {
  const byUrn = winChancesOf(votes, turnout(failureRates));
  const leading = leader(votes);
  if (leading === null || confidence === null) return { options: byUrn, tie: rest(byUrn) };
  const others = sum(byUrn.toSpliced(leading, 1));
  const against = Math.max(others, 1 - byUrn[leading]!);
  const share = against > 0 && confidence < byUrn[leading]! ? (1 - confidence) / against : 1;
  const options = byUrn.map((chance, option) => (option === leading ? confidence : chance * share));
  return { options, tie: rest(options) };
}

/** Options with the same votes have the same chance, which is worked out once. */
function winChancesOf(votes: Votes, arriving: readonly number[]): number[] {
  const byCount: number[] = [];
  return votes.map((count, option) => (byCount[count] ??= winChance(votes, option, arriving)));
}

/** In the order of the options, a tie as the last: the form in which they are sent. */
export const chancesInOrder = ({ options, tie }: Chances): number[] => [...options, tie];

/** The odds where a poll stands. */
export const chancesOf = oncePerPoll((poll) =>
  chancesBeside(confidenceOf(poll), tally(poll), unresolvedFailureRates(poll)),
);

const sum = (odds: readonly number[]): number => odds.reduce((total, chance) => total + chance, 0);
const rest = (odds: readonly number[]): number => Math.max(0, 1 - sum(odds));
