// The figures of a batch's report beside those of the replay.
import type { BatchReport, BatchThreshold } from '@eloquentpoll/contracts';
import { tableLines } from '../terminal/table.ts';
import { forecastsOf, openFigures } from './calibration.ts';
import { compareRules, type RuleFigures } from './compare-rules.ts';
import type { RecordedPoll } from './recorded-poll.ts';

export interface ComparedFigure {
  readonly figure: string;
  readonly replay: number | null;
  readonly report: number | null;
}

/** The report rounds to six digits. */
const TOLERANCE = 1e-6;

export const differs = ({ replay, report }: ComparedFigure): boolean =>
  replay === null || report === null ? replay !== report : Math.abs(replay - report) > TOLERANCE;

/** For polls that ran until nothing could change their answer: the report knows all figures, at any threshold. */
export function comparedToProof(polls: readonly RecordedPoll[], report: BatchReport): ComparedFigure[] {
  const { thresholds, calibration } = report.panels[0]!;
  const open = openFigures(forecastsOf(polls));
  const replayed = thresholds.flatMap((option) => {
    const threshold = option.confidence_threshold ?? 1;
    const rules = compareRules(polls, threshold, () => {});
    const name = option.confidence_threshold === null ? 'as asked' : `threshold ${threshold}`;
    return ruleFigures(name, rules.find(({ rule }) => rule === 'EloquentPoll')!, option);
  });
  const [full] = compareRules(polls, 1, () => {});
  return [
    { figure: 'full panel: accuracy', replay: full!.accuracy, report: report.accuracy.share },
    ...replayed,
    { figure: 'open states', replay: open.states, report: calibration.states },
    { figure: 'calibration error, open states', replay: open.ece, report: calibration.error },
    { figure: 'Brier score, open states', replay: open.brier, report: calibration.brier },
  ];
}

/** For polls that stopped early: only the figures that the report can know then. The others are null in it. */
export function comparedAsAsked(
  polls: readonly RecordedPoll[],
  threshold: number,
  report: BatchReport,
): ComparedFigure[] {
  const ours = compareRules(polls, threshold, () => {}).find(({ rule }) => rule === 'EloquentPoll')!;
  const [asked] = report.panels[0]!.thresholds;
  return ruleFigures(`asked with ${threshold}`, ours, asked!).filter(
    ({ figure }) => !/wrong stops|agreement/.test(figure),
  );
}

const ruleFigures = (name: string, rule: RuleFigures, option: BatchThreshold): ComparedFigure[] => [
  { figure: `${name}: calls saved`, replay: rule.callsSaved, report: option.calls_saved },
  ...(rule.dollarsSaved === null
    ? []
    : [{ figure: `${name}: dollars saved`, replay: rule.dollarsSaved, report: option.cost_saved }]),
  { figure: `${name}: stopped early`, replay: rule.stoppedEarly, report: option.stopped_early?.share ?? null },
  { figure: `${name}: wrong stops`, replay: rule.wrongStops, report: option.wrong_stops?.share ?? null },
  { figure: `${name}: agreement`, replay: rule.agreement, report: option.panel_agreement?.share ?? null },
  { figure: `${name}: accuracy`, replay: rule.accuracy, report: option.accuracy?.share ?? null },
];

export const comparisonTable = (figures: readonly ComparedFigure[]): string =>
  `${tableLines(
    ['figure', 'replay', 'report', ''],
    figures.map((one) => [one.figure, shown(one.replay), shown(one.report), differs(one) ? 'DIFFERS' : '']),
  ).join('\n')}\n`;

const shown = (value: number | null): string =>
  value === null ? 'unknown' : Number.isInteger(value) && value > 1 ? String(value) : value.toFixed(6);
