// The figures as text for a terminal.
import { percent, table } from '../terminal/table.ts';
import type { VectorFigures } from './check-vectors.ts';
import { vectorsPass } from './check-vectors.ts';
import type { PanelFigures } from './replay-panel.ts';

export function panelReport(panel: PanelFigures, threshold: number): string {
  const { calibration } = panel;
  return [
    `${panel.name}: ${panel.models.length} models of ${panel.families} families, ${panel.polls} polls` +
      `${panel.leftOut > 0 ? ` (${panel.leftOut} left out: not put to every model)` : ''}, threshold ${threshold}`,
    '',
    ...table(
      ['rule', 'calls saved', 'stopped early', 'wrong stops', 'agreement', 'accuracy'],
      panel.rules.map((rule) => [
        rule.rule,
        percent(rule.callsSaved),
        percent(rule.stoppedEarly),
        percent(rule.wrongStops, 2),
        percent(rule.agreement, 2),
        percent(rule.accuracy),
      ]),
    ),
    '',
    `calibration over ${calibration.states} states: error (ECE) ${calibration.ece.toFixed(4)}` +
      `, without locked states ${calibration.eceOpen.toFixed(4)}, Brier score ${calibration.brier.toFixed(4)}`,
    ...table(
      ['confidence', 'states', 'mean', 'came true'],
      calibration.bins
        .filter((bin) => bin.states > 0)
        .map((bin) => [
          `${bin.from.toFixed(1)} to ${bin.to.toFixed(1)}`,
          String(bin.states),
          bin.confidence.toFixed(3),
          bin.cameTrue.toFixed(3),
        ]),
    ),
    '',
    ...table(
      ['fan-out (made-up latencies)', 'cost', 'mean latency', 'against full'],
      panel.fanOuts.map((fanOut) => [
        fanOut.fanOut,
        percent(fanOut.cost),
        `${(fanOut.meanLatencyMs / 1000).toFixed(1)} s`,
        percent(fanOut.relativeLatency),
      ]),
    ),
    '',
  ].join('\n');
}

export const vectorReport = (figures: VectorFigures): string =>
  `vectors: ${figures.vectors} read, ${figures.exact} confidences and ${figures.withFailures} with failures compared` +
  `, ${figures.missing} figures missing in the file, ${figures.contradicted} contradicted` +
  `, largest error ${figures.maxError.toExponential(1)}: ${vectorsPass(figures) ? 'pass' : 'FAIL'}\n`;
