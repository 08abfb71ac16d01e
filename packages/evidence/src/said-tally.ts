// The confidence that audited polls stated while they ran and when they stopped, compared with what the full panel
// elected. Sums only, so tallies of months, panels and orders can be added and outlive the audits behind them.
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
import { evidenceAboveAll, evidenceBelowAll, type Promised } from './e-value.ts';

export interface SaidPoll {
  readonly panelSize: number;
  readonly optionCount: number;
  /** In order of arrival: an option, or null for a failed vote. */
  readonly votes: readonly (number | null)[];
  /** The confidence after each vote that was part of the answer. Null without a leader and if unknown. */
  readonly said: readonly (number | null)[];
  /** What the full panel elected. Null for a tie. */
  readonly winner: number | null;
  /** The threshold, if the poll stopped because its confidence reached it, else null. */
  readonly stoppedFor: number | null;
}

/** Plain JSON. */
export interface SaidTally {
  readonly audits: number;
  readonly bands: BandTally;
  /** Polls that stopped by confidence, keyed by their threshold. */
  readonly stops: Readonly<Record<string, Sums>>;
}

export const EMPTY_SAID: SaidTally = { audits: 0, bands: [], stops: {} };

/** The states from the first vote on, without the one after the panel's last vote, which is no forecast. */
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
  /** The promised maximum of wrong stops: one minus the threshold, summed over the stops. */
  readonly allowed: number;
  /**
   * E-values. `evidenceKept`: against "more are wrong than promised in some group of thresholds". `evidenceBroken`:
   * against "no more are wrong than promised at any threshold".
   */
  readonly evidenceKept: number;
  readonly evidenceBroken: number;
}

/**
 * Callers choose thresholds, and the data must not decide how many promises there are. So thresholds are judged in these
 * groups: each stop against its own limit, all of a group together. Nearly all polls have the default threshold, so its
 * group has half of the stakes.
 */
const GROUPS = [
  { from: 0, stake: 0.1 },
  { from: 0.5, stake: 0.1 },
  { from: 0.8, stake: 0.1 },
  { from: 0.9, stake: 0.1 },
  { from: 0.95, stake: 0.5 },
  { from: 0.99, stake: 0.1 },
] as const;

/**
 * Each group of thresholds is a promise of its own. The sum of their e-values, each times its stake, is an e-value that
 * shows a broken promise; a group without stops has the e-value 1. All promises are kept only if the evidence holds for
 * each group with stops, so the minimum is used. A product would let many right stops at a low threshold hide wrong ones
 * at a high one.
 */
export function stopFigures({ stops }: Pick<SaidTally, 'stops'>): StopFigures {
  let figures = { polls: 0, said: 0, wrong: 0, allowed: 0 };
  const groups = GROUPS.map((): Promised[] => []);
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
    groups[GROUPS.findLastIndex(({ from }) => Number(threshold) >= from)]!.push({ limit, seen });
  }
  const kept = groups.flatMap((promised) => (promised.length === 0 ? [] : [capped(evidenceBelowAll(promised))]));
  const broken = groups.map((promised, i) => GROUPS[i]!.stake * capped(evidenceAboveAll(promised)));
  return {
    ...figures,
    evidenceKept: kept.length === 0 ? 1 : Math.min(...kept),
    evidenceBroken: broken.reduce((sum, value) => sum + value, 0),
  };
}

/** A bet may stop after winning this much, so that numbers stay finite. */
const capped = (evidence: number): number => Math.min(1e9, evidence);
