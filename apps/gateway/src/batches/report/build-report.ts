import { setImmediate } from 'node:timers/promises';
import type { BatchReport, BatchReportPanel, PanelName } from '@eloquentpoll/contracts';
import type { PanelSums } from '@eloquentpoll/evidence';
import { answerFigures, reportPanel } from './panel-report.ts';
import { recommend } from './recommend.ts';
import { askedTheSame, type ReportSums } from './report-sums.ts';

export interface CountedRows {
  readonly batchId: string;
  readonly total: number;
  readonly counted: number;
  readonly countedAt: Date;
  readonly isComplete: boolean;
}

/** Yields to other work between panels, because the intervals of one take some milliseconds. */
export async function buildReport(
  sums: ReportSums,
  { batchId, total, counted, countedAt, isComplete }: CountedRows,
): Promise<BatchReport> {
  const panels: BatchReportPanel[] = [];
  for (const [preset, panel] of Object.entries(sums.panels) as [PanelName, PanelSums][]) {
    panels.push(reportPanel(preset, panel));
    await setImmediate();
  }
  panels.sort((a, b) => b.polls - a.polls);
  const judged = sums.all.stops.polls;
  return {
    ...{ batch_id: batchId, complete: isComplete },
    rows: { total, counted, judged, without_gold: sums.withoutGold, not_judged: sums.notJudged },
    simulated: sums.simulated,
    ...answerFigures(sums.all),
    panels,
    recommendation: recommend(panels, judged, (preset) => askedTheSame(sums, preset)),
    counted_at: countedAt.toISOString(),
  };
}
