import type { BatchReport, PanelName } from '@eloquentpoll/contracts';
import type { PanelSums } from '@eloquentpoll/evidence';
import { answerFigures, reportPanel } from './panel-report.ts';
import { recommend } from './recommend.ts';
import type { ReportSums } from './report-sums.ts';

export interface CountedRows {
  readonly batchId: string;
  readonly total: number;
  readonly counted: number;
  readonly countedAt: Date;
  readonly isComplete: boolean;
}

export function buildReport(
  sums: ReportSums,
  { batchId, total, counted, countedAt, isComplete }: CountedRows,
): BatchReport {
  const panels = Object.entries(sums.panels)
    .map(([preset, panel]: [string, PanelSums]) => reportPanel(preset as PanelName, panel))
    .toSorted((a, b) => b.polls - a.polls);
  const judged = sums.all.stops.polls;
  return {
    ...{ batch_id: batchId, complete: isComplete },
    rows: { total, counted, judged, without_gold: sums.withoutGold, not_judged: sums.notJudged },
    simulated: sums.simulated,
    ...answerFigures(sums.all),
    panels,
    recommendation: recommend(panels, judged),
    counted_at: countedAt.toISOString(),
  };
}
