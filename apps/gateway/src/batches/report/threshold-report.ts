import type { BatchThreshold } from '@eloquentpoll/contracts';
import { fullCost, type PanelSums, REPLAYED_THRESHOLDS, savedOf, type ThresholdSums } from '@eloquentpoll/evidence';
import { costPerRight, difference, MAX_UNKNOWN_SHARE, measuredShare, rounded, toUsd } from './measures.ts';

/** The polls as asked, then each threshold, replayed on the polls whose order of votes is known. */
export function thresholdsOf({ stops, thresholds, models, withoutCourse }: PanelSums): BatchThreshold[] {
  const asked: ThresholdSums = { unknown: 0, stops, gained: 0, lost: 0 };
  const fullU = fullCost(models);
  const leftOut = withoutCourse?.stops.polls ?? 0;
  const replayedU = withoutCourse ? fullU - fullCost(models, withoutCourse.models) : fullU;
  const sameAsAsked = withoutCourse && asAskedBut(stops, withoutCourse.stops);
  return [
    thresholdReport(null, asked, fullU),
    ...REPLAYED_THRESHOLDS.map((threshold) => {
      const sums = thresholds[threshold]!;
      if (leftOut > MAX_UNKNOWN_SHARE * stops.polls) return notKnown(threshold, sums.unknown);
      return { ...thresholdReport(threshold, sums, replayedU), ...(sameAsAsked && { as_asked: sameAsAsked }) };
    }),
  ];
}

const asAskedBut = (all: PanelSums['stops'], leftOut: PanelSums['stops']): NonNullable<BatchThreshold['as_asked']> => ({
  accuracy: measuredShare(all.right - leftOut.right, all.polls - leftOut.polls),
  cost_usd: toUsd(all.cost - leftOut.cost),
});

function thresholdReport(threshold: number | null, sums: ThresholdSums, fullU: number): BatchThreshold {
  const { unknown, stops, gained, lost } = sums;
  if (unknown > 0) return notKnown(threshold, unknown);
  const accuracy = measuredShare(stops.right, stops.polls);
  return {
    ...{ confidence_threshold: threshold, unknown, accuracy, cost_usd: toUsd(stops.cost) },
    cost_per_right_usd: costPerRight(stops.cost, accuracy),
    calls_saved: roundedShare(savedOf(stops.calls, stops.panelCalls)),
    cost_saved: roundedShare(savedOf(stops.cost, fullU)),
    stopped_early: measuredShare(stops.early, stops.polls),
    wrong_stops: wrongStops(stops),
    panel_agreement: stops.judged === stops.polls ? measuredShare(stops.agreed, stops.judged) : null,
    difference: difference(gained, lost, stops.polls),
  };
}

function wrongStops({ early, earlyJudged, wrong }: ThresholdSums['stops']): BatchThreshold['wrong_stops'] {
  const { share: part, low, high } = measuredShare(wrong, earlyJudged);
  const isKnown = earlyJudged === early;
  const known = (value: number | null) => (isKnown ? value : null);
  return { wrong, judged: earlyJudged, of: early, share: known(part), low: known(low), high: known(high) };
}

const notKnown = (threshold: number | null, unknown: number): BatchThreshold => ({
  ...{ confidence_threshold: threshold, unknown, accuracy: null, cost_usd: null, cost_per_right_usd: null },
  ...{ calls_saved: null, cost_saved: null, stopped_early: null, wrong_stops: null, panel_agreement: null },
  difference: null,
});

const roundedShare = (value: number | null): number | null => (value === null ? null : rounded(value));
