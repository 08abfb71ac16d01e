// Said against came true: what confidence promised over many audited polls and what the full panels then elected, in
// bands with intervals. A band that too few polls were in is pooled with its neighbour, and says so.
import { type Interval, shareInterval } from './interval.ts';

export interface StatedConfidence {
  /** Which poll said it: a poll counts once per band, however many of its states were in it. */
  readonly poll: string | number;
  readonly confidence: number;
  readonly cameTrue: boolean;
}

export interface CalibrationBand {
  readonly from: number;
  readonly to: number;
  readonly polls: number;
  /** Mean confidence. */
  readonly said: number;
  readonly cameTrue: number;
  readonly interval: Interval;
  /** Bands that had too few polls of their own became this one. */
  readonly isPooled: boolean;
}

const EDGES = [0, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 1];
export const MIN_POLLS_OF_A_BAND = 100;

/** From low to high; what no poll said has no band, and neither have certain states (1): they were proven. */
export function calibrationBands(
  states: Iterable<StatedConfidence>,
  minPolls = MIN_POLLS_OF_A_BAND,
): CalibrationBand[] {
  const bins = EDGES.slice(1).map((to, i) => ({
    from: EDGES[i]!,
    to,
    byPoll: new Map<StatedConfidence['poll'], Cluster>(),
  }));
  for (const { poll, confidence, cameTrue } of states) {
    const bin = bins.find(({ to }) => confidence < to);
    if (bin === undefined || !(confidence >= 0)) continue;
    const cluster = bin.byPoll.get(poll) ?? { states: 0, said: 0, cameTrue: 0 };
    cluster.states += 1;
    cluster.said += confidence;
    cluster.cameTrue += Number(cameTrue);
    bin.byPoll.set(poll, cluster);
  }
  return pooled(
    bins
      .filter(({ byPoll }) => byPoll.size > 0)
      .map(({ from, to, byPoll }) => ({ from, to, ...totals([...byPoll.values()]), isPooled: false })),
    minPolls,
  ).map(({ from, to, polls, said, cameTrue, isPooled }) => ({
    ...{ from, to, polls, isPooled },
    said: said / polls,
    cameTrue: cameTrue / polls,
    interval: shareInterval(cameTrue, polls),
  }));
}

interface Cluster {
  states: number;
  said: number;
  cameTrue: number;
}

interface Bin {
  readonly from: number;
  readonly to: number;
  readonly polls: number;
  readonly said: number;
  readonly cameTrue: number;
  readonly isPooled: boolean;
}

/** States of one poll mostly come true together: each poll counts by the mean of its states. */
const totals = (clusters: readonly Cluster[]) => ({
  polls: clusters.length,
  said: clusters.reduce((sum, { said, states }) => sum + said / states, 0),
  cameTrue: clusters.reduce((sum, { cameTrue, states }) => sum + cameTrue / states, 0),
});

/** Joins the smallest band to the smaller of its neighbours until every band has enough. */
function pooled(bins: readonly Bin[], minPolls: number): Bin[] {
  const left = [...bins];
  while (left.length > 1) {
    const smallest = left.reduce((least, bin, i) => (bin.polls < left[least]!.polls ? i : least), 0);
    if (left[smallest]!.polls >= minPolls) break;
    const [before, after] = [left[smallest - 1], left[smallest + 1]];
    const first =
      after === undefined || (before !== undefined && before.polls <= after.polls) ? smallest - 1 : smallest;
    left.splice(first, 2, joined(left[first]!, left[first + 1]!));
  }
  return left;
}

const joined = (low: Bin, high: Bin): Bin => ({
  from: low.from,
  to: high.to,
  polls: low.polls + high.polls,
  said: low.said + high.said,
  cameTrue: low.cameTrue + high.cameTrue,
  isPooled: true,
});
