// The probability that each option wins, and that a tie results, once every remaining model has voted or failed. The
// rule is that of confidence, which is the leader's probability.
import { confidenceAmong, winChance } from './confidence.ts';
import { oncePerPoll } from './once-per-poll.ts';
import { confidenceOf, tally, unresolvedFailureRates } from './standing.ts';
import { leader, type Votes } from './tally.ts';
import type { TrackRecord } from './track-record.ts';
import { turnout } from './turnout.ts';

export interface Chances {
  /** For each option, the probability that it is the unique winner. */
  readonly options: readonly number[];
  /** The probability that no option wins: a tie, or no vote at all. */
  readonly tie: number;
}

/** Sums to 1. The leader's chance is its confidence. If a track record lowers that, the others share the difference. */
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

/** Options with equal votes have equal chances, so each number of votes is computed once. */
function winChancesOf(votes: Votes, arriving: readonly number[]): number[] {
  const byCount: number[] = [];
  return votes.map((count, option) => (byCount[count] ??= winChance(votes, option, arriving)));
}

/** In the order of the options with the tie last, as sent to callers. */
export const chancesInOrder = ({ options, tie }: Chances): number[] => [...options, tie];

/** The chances in the current state of a poll. */
export const chancesOf = oncePerPoll((poll) =>
  chancesBeside(confidenceOf(poll), tally(poll), unresolvedFailureRates(poll)),
);

const sum = (odds: readonly number[]): number => odds.reduce((total, chance) => total + chance, 0);
const rest = (odds: readonly number[]): number => Math.max(0, 1 - sum(odds));
