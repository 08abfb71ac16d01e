import type { BatchCalibration, BatchModel, BatchReport, BatchReportPanel, PanelName } from '@eloquentpoll/contracts';
import {
  AGREEMENT_EDGES,
  type AnswerSums,
  bandsOf,
  CONFIDENCE_EDGES,
  forecastFigures,
  type ModelSums,
  type PanelSums,
  type RightSums,
  savedOf,
} from '@eloquentpoll/evidence';
import {
  costPerRight,
  difference,
  MAX_UNKNOWN_SHARE,
  measuredMean,
  measuredShare,
  rounded,
  toUsd,
} from './measures.ts';
import { thresholdsOf } from './threshold-report.ts';

type AnswerFigures = Omit<
  BatchReport,
  'batch_id' | 'complete' | 'rows' | 'simulated' | 'panels' | 'recommendation' | 'counted_at'
>;

export function answerFigures({ stops, noAnswer, shares, byConfidence, byAgreement }: AnswerSums): AnswerFigures {
  const accuracy = measuredShare(stops.right, stops.polls);
  const saved = savedOf(stops.calls, stops.panelCalls);
  return {
    ...{ polls: stops.polls, accuracy, no_answer: noAnswer, agreement: measuredMean(shares) },
    ...{ cost_usd: toUsd(stops.cost), cost_per_right_usd: costPerRight(stops.cost, accuracy) },
    ...{ calls: stops.calls, panel_calls: stops.panelCalls, calls_saved: saved === null ? null : rounded(saved) },
    by_confidence: rightByBand(byConfidence, CONFIDENCE_EDGES),
    by_agreement: rightByBand(byAgreement, AGREEMENT_EDGES),
  };
}

/** Omits bands without polls. */
const rightByBand = (bands: readonly RightSums[], edges: readonly number[]) =>
  bands.flatMap(([polls, said, right], i) =>
    polls === 0
      ? []
      : [{ from: edges[i]!, to: edges[i + 1] ?? 1, said: rounded(said / polls), right: measuredShare(right, polls) }],
  );

export function reportPanel(preset: PanelName, sums: PanelSums): BatchReportPanel {
  return {
    preset,
    ...(sums.withoutCourse && { order_unknown: sums.withoutCourse.stops.polls }),
    confidence_threshold: { min: sums.lowest, max: sums.highest },
    ...answerFigures(sums),
    calibration: calibrationOf(sums),
    models: Object.entries(sums.models)
      .map(([id, model]) => modelReport(id, model))
      .toSorted((a, b) => (b.accuracy.share ?? -1) - (a.accuracy.share ?? -1)),
    thresholds: thresholdsOf(sums),
  };
}

/** Polls with an unknown full-panel winner are those that agreed early: leaving out more than a few would mislead. */
function calibrationOf({ stops, foretold, forecasts, bands }: PanelSums): BatchCalibration {
  const unknown = stops.polls - foretold;
  const known = { polls: foretold, unknown };
  const { states, ece, brier } = forecastFigures(forecasts);
  if (states === 0 || unknown > MAX_UNKNOWN_SHARE * stops.polls)
    return { ...known, states, error: null, brier: null, bands: [] };
  return {
    ...{ ...known, states, error: rounded(ece), brier: rounded(brier) },
    bands: bandsOf(bands).map(({ from, to, polls, said, cameTrue, interval: { low, high }, isPooled }) => ({
      ...{ from, to, polls, said: rounded(said), came_true: rounded(cameTrue) },
      ...{ low: rounded(low), high: rounded(high), pooled: isPooled },
    })),
  };
}

function modelReport(id: string, model: ModelSums): BatchModel {
  const { polls, asked, right, panelRight, gained, lost, compared, agreed, cost } = model;
  const accuracy = measuredShare(right, asked);
  return {
    ...{ model_id: id, polls, asked, accuracy, panel_accuracy: measuredShare(panelRight, asked) },
    ...{ difference: difference(gained, lost, asked), agreement: measuredShare(agreed, compared) },
    ...{ cost_usd: toUsd(cost), cost_per_right_usd: costPerRight(cost, accuracy) },
  };
}
