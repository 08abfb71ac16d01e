// The figures as text for a terminal.
import { asPercent, tableLines } from '../terminal/table.ts';
import type { VectorFigures } from './check-vectors.ts';
import { vectorsPass } from './check-vectors.ts';
import type { ReplayFigures } from './replay-panel.ts';

export function panelReport(panel: ReplayFigures, threshold: number): string {
  const { calibration } = panel;
  return [
    `${panel.name}: ${panel.models.length} models of ${panel.families} families, ${panel.polls} polls` +
      `${panel.leftOut > 0 ? ` (${panel.leftOut} left out: not put to every model)` : ''}, threshold ${threshold}`,
    ...howAsked(panel),
    '',
    ...tableLines(
      [
        'rule',
        'calls saved',
        ...ifPriced(panel, 'dollars saved'),
        'stopped early',
        'wrong stops',
        'agreement',
        'accuracy',
      ],
      panel.rules.map((rule) => [
        rule.rule,
        asPercent(rule.callsSaved),
        ...ifPriced(panel, asPercent(rule.dollarsSaved ?? 0)),
        asPercent(rule.stoppedEarly),
        asPercent(rule.wrongStops, 2),
        asPercent(rule.agreement, 2),
        asPercent(rule.accuracy),
      ]),
    ),
    '',
    `calibration over ${calibration.states} states: error (ECE) ${calibration.ece.toFixed(4)}` +
      `, without locked states ${calibration.eceOpen.toFixed(4)}, Brier score ${calibration.brier.toFixed(4)}`,
    ...tableLines(
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
    ...tableLines(
      [
        `fan-out (made-up latencies${panel.audits === null ? '' : ', without the record'})`,
        'calls',
        ...ifPriced(panel, 'dollars'),
        'mean latency',
        'against full',
      ],
      panel.fanOuts.map((fanOut) => [
        fanOut.fanOut,
        asPercent(fanOut.cost),
        ...ifPriced(panel, asPercent(fanOut.dollars ?? 0)),
        `${(fanOut.meanLatencyMs / 1000).toFixed(1)} s`,
        asPercent(fanOut.relativeLatency),
      ]),
    ),
    '',
  ].join('\n');
}

/** Empty for the shuffled order without a track record. */
function howAsked({ order, audits, gate }: ReplayFigures): string[] {
  if (order === 'shuffled' && audits === null) return [];
  const asked = order === 'cheapest' ? 'asked cheapest first' : 'asked in shuffled order';
  if (gate === null) return [asked];
  return [
    `${asked}, with the track record of ${audits} audited polls`,
    `gate: ${gate.opensAfter === null ? 'stays shut' : `opens after ${gate.opensAfter} audits`}` +
      `${gate.isAlarmed ? ', ALARM' : ''}; ${asPercent(gate.wrongStops, 2)} of the early stops wrong while it learns`,
  ];
}

const ifPriced = ({ rules }: ReplayFigures, cell: string): string[] => (rules[0]?.dollarsSaved == null ? [] : [cell]);

export const vectorReport = (figures: VectorFigures): string =>
  `vectors: ${figures.vectors} read, ${figures.exact} confidences and ${figures.withFailures} with failures compared` +
  `, ${figures.missing} figures missing in the file, ${figures.contradicted} contradicted` +
  `, largest error ${figures.maxError.toExponential(1)}: ${vectorsPass(figures) ? 'pass' : 'FAIL'}\n`;
