// What audited polls said of themselves while they ran and when they stopped, against what the whole panel elected. Sums
// only: the tallies of months, panels and orders add up, and outlive the audits that they were made from.
import { leader } from '@eloquentpoll/voting';
import {
  added,
  addedBands,
  type BandTally,
  bandTally,
  NO_SUMS,
  type StatedConfidence,
  type Sums,
} from './calibration.ts';
import { evidenceAbove, evidenceBelow } from './e-value.ts';

export interface SaidPoll {
  readonly panelSize: number;
  readonly optionCount: number;
  /** In the order in which they were heard: an option, or null for none. */
  readonly votes: readonly (number | null)[];
  /** After each vote that was in the answer: the confidence; null without a leader and where it is not known. */
  readonly said: readonly (number | null)[];
  /** What the whole panel elected; null for a tie. */
  readonly winner: number | null;
  /** Null unless the poll stopped because its confidence had reached this. */
  readonly stoppedFor: number | null;
}

/** Plain JSON. */
export interface SaidTally {
  readonly audits: number;
  readonly bands: BandTally;
  /** Polls that stopped on their confidence, by the threshold that it had to reach. */
  readonly stops: Readonly<Record<string, Sums>>;
}

export const EMPTY_SAID: SaidTally = { audits: 0, bands: [], stops: {} };

/** Between the first vote and the last of the panel, whose outcome is no forecast any more. */
export function statesOf(poll: Omit<SaidPoll, 'stoppedFor'>): Omit<StatedConfidence, 'poll'>[] {
  const { panelSize, optionCount, votes, said, winner } = poll;
  const tally = new Array<number>(optionCount).fill(0);
  return said.flatMap((confidence, i) => {
    const vote = votes[i];
    if (vote != null) tally[vote]! += 1;
    if (confidence === null || i + 1 >= panelSize) return [];
    return [{ confidence, cameTrue: leader(tally) === winner }];
  });
}

export function saidTally(poll: SaidPoll): SaidTally {
  const states = statesOf(poll);
  const last = poll.said.length < poll.panelSize && poll.said.at(-1) != null ? states.at(-1) : undefined;
  const stops: Record<string, Sums> =
    poll.stoppedFor === null || last === undefined || last.confidence >= 1
      ? {}
      : { [poll.stoppedFor]: [1, last.confidence, Number(last.cameTrue)] };
  return { audits: 1, bands: bandTally(states), stops };
}

export function addedSaid(a: SaidTally, b: SaidTally): SaidTally {
  const stops: Record<string, Sums> = { ...a.stops };
  for (const [threshold, sums] of Object.entries(b.stops)) stops[threshold] = added(stops[threshold] ?? NO_SUMS, sums);
  return { audits: a.audits + b.audits, bands: addedBands(a.bands, b.bands), stops };
}

export interface StopFigures {
  readonly polls: number;
  readonly said: number;
  readonly wrong: number;
  /** The most that may be wrong: each stop may be with one minus its threshold. */
  readonly allowed: number;
  /** E-values: against "more are wrong than promised at some threshold", and against "no more are at any". */
  readonly evidenceKept: number;
  readonly evidenceBroken: number;
}

/**
 * Each threshold is a promise of its own: broken is shown by the mean of their e-values, which is one, and kept only where
 * it is for each. A product would let many sound stops at a lax threshold hide wrong ones at a strict one.
 */
export function stopFigures({ stops }: Pick<SaidTally, 'stops'>): StopFigures {
  let figures = { polls: 0, said: 0, wrong: 0, allowed: 0 };
  const kept: number[] = [];
  const broken: number[] = [];
  for (const [threshold, [polls, said, cameTrue]] of Object.entries(stops)) {
    const limit = 1 - Number(threshold);
    const seen = { trials: polls, hits: polls - cameTrue };
    figures = {
      polls: figures.polls + polls,
      said: figures.said + said,
      wrong: figures.wrong + seen.hits,
      allowed: figures.allowed + limit * polls,
    };
    if (polls === 0 || limit <= 0 || limit >= 1) continue;
    kept.push(capped(evidenceBelow(limit, seen)));
    broken.push(capped(evidenceAbove(limit, seen)));
  }
  return { ...figures, evidenceKept: kept.length === 0 ? 1 : Math.min(...kept), evidenceBroken: meanOf(broken) };
}

/** Without any there is no evidence. */
const meanOf = (values: readonly number[]): number =>
  values.length === 0 ? 1 : values.reduce((sum, value) => sum + value, 0) / values.length;

/** A bet may end once it has won this much: the numbers stay finite. */
const capped = (evidence: number): number => Math.min(1e9, evidence);
