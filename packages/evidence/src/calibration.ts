// Stated confidence compared with how often it proved right, over many audited polls, in bands with intervals. A band
// with too few polls is pooled with a neighbor and marked. Only sums are kept, so it is unknown which polls were in
// both bands: the interval of pooled bands is as wide as if each poll had been in all of them.
import { type Interval, shareInterval } from './interval.ts';

export interface StatedConfidence {
  /** The poll that stated it. A poll counts once per band, however many of its states are in the band. */
  readonly poll: string | number;
  readonly confidence: number;
  readonly cameTrue: boolean;
}

/** Number of polls, the sum of their stated confidence, and the sum of what came true. */
export type Sums = readonly [polls: number, said: number, cameTrue: number];

/** One entry per band between the edges. Tallies of different polls can be added. Plain JSON. */
export type BandTally = readonly Sums[];

export interface CalibrationBand {
  readonly from: number;
  readonly to: number;
  /** A poll counts once in each of the pooled bands. */
  readonly polls: number;
  /** Mean confidence. */
  readonly said: number;
  readonly cameTrue: number;
  readonly interval: Interval;
  /** True if this band was made of bands that had too few polls each. */
  readonly isPooled: boolean;
}

const EDGES = [0, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 1];
export const MIN_POLLS_OF_A_BAND = 100;
export const NO_SUMS: Sums = [0, 0, 0];

/** From low to high. Empty bands are omitted, and so are certain states (1), because they were proven. */
export const calibrationBands = (
  states: Iterable<StatedConfidence>,
  minPolls = MIN_POLLS_OF_A_BAND,
): CalibrationBand[] =>
  bandsOf([...Map.groupBy(states, ({ poll }) => poll).values()].map(bandTally).reduce(addedBands, []), minPolls);

/**
 * The states of one poll, in the order in which they were stated. A poll counts in each band with its first state there.
 * A mean of its states would not be fair even to exact probabilities: how many states follow depends on how the poll
 * goes on.
 */
export function bandTally(states: readonly Omit<StatedConfidence, 'poll'>[]): BandTally {
  return EDGES.slice(1).map((to, i): Sums => {
    const first = states.find(({ confidence }) => confidence >= EDGES[i]! && confidence < to);
    return first === undefined ? NO_SUMS : [1, first.confidence, Number(first.cameTrue)];
  });
}

export const added = (a: Sums, b: Sums): Sums => [a[0] + b[0], a[1] + b[1], a[2] + b[2]];

export const addedBands = (a: BandTally, b: BandTally): BandTally =>
  EDGES.slice(1).map((_, i) => added(a[i] ?? NO_SUMS, b[i] ?? NO_SUMS));

export function bandsOf(tally: BandTally, minPolls = MIN_POLLS_OF_A_BAND): CalibrationBand[] {
  const bins = tally.map((sums, i): Bin => ({ from: EDGES[i]!, to: EDGES[i + 1]!, sums, parts: 1 }));
  return pooled(
    bins.filter(({ sums: [polls] }) => polls > 0),
    minPolls,
  ).map(({ sums: [polls, said, cameTrue], parts, ...bin }) => ({
    ...bin,
    polls,
    said: said / polls,
    cameTrue: cameTrue / polls,
    interval: shareInterval(cameTrue / parts, polls / parts),
    isPooled: parts > 1,
  }));
}

interface Bin extends Pick<CalibrationBand, 'from' | 'to'> {
  readonly sums: Sums;
  /** Number of bands that were pooled. */
  readonly parts: number;
}

/** Joins the smallest band with its smaller neighbor until every band has enough polls. */
function pooled(bins: readonly Bin[], minPolls: number): Bin[] {
  const left = [...bins];
  const pollsOf = (bin: Bin) => bin.sums[0];
  while (left.length > 1) {
    const smallest = left.reduce((least, bin, i) => (pollsOf(bin) < pollsOf(left[least]!) ? i : least), 0);
    if (pollsOf(left[smallest]!) >= minPolls) break;
    const [before, after] = [left[smallest - 1], left[smallest + 1]];
    const first =
      after === undefined || (before !== undefined && pollsOf(before) <= pollsOf(after)) ? smallest - 1 : smallest;
    left.splice(first, 2, joined(left[first]!, left[first + 1]!));
  }
  return left;
}

const joined = (low: Bin, high: Bin): Bin => ({
  from: low.from,
  to: high.to,
  sums: added(low.sums, high.sums),
  parts: low.parts + high.parts,
});
