import type {
  BatchCalibration,
  BatchModel,
  BatchReport,
  BatchReportPanel,
  BatchThreshold,
  MeasuredMean,
  MeasuredShare,
  ReportBand,
} from '../eloquentpoll.ts';
import { costText, plural } from './figures.ts';
import { fit, plain, wrap } from './plain-text.ts';
import { table } from './table.ts';
import type { TextStyle } from './terminal.ts';

// The report of a batch as tables. Figures that the votes cannot show are dashes.

export function reportLines(report: BatchReport, columns: number, ink: TextStyle): string[] {
  const { accuracy, agreement, cost_usd, cost_per_right_usd, calls_saved, no_answer, rows, simulated } = report;
  const interval = accuracy.low === null || accuracy.high === null ? '' : `, ${range(accuracy)} with 95% confidence`;
  return [
    ink.bold(`Accuracy ${percent(accuracy.share)} (${accuracy.count} of ${accuracy.of} right${interval})`),
    ...(no_answer > 0 ? [`No answer: ${no_answer}`] : []),
    ...(rows.not_judged > 0 ? [`${plural(rows.not_judged, 'row')} without a result`] : []),
    ...(rows.without_gold > 0 ? [`${plural(rows.without_gold, 'row')} without a right answer`] : []),
    `Agreement ${percent(agreement.mean)} · cost ${costText(cost_usd)} at the flex price, ${usd(cost_per_right_usd)} per right answer · calls saved ${percent(calls_saved)}`,
    ...(report.complete ? [] : ['Rows are still being counted; these figures cover the first ones.']),
    ...(simulated ? ['Simulated models: not real figures.'] : []),
    ...section(
      'By confidence: stated confidence (┊) and how often the answer was right (█)',
      bars(ofAnswers(report.by_confidence), columns),
      ink,
    ),
    ...report.panels.flatMap((panel) => panelLines(panel, report.panels.length > 1, columns, ink)),
    '',
    ...report.recommendation.sentences.flatMap((sentence) => wrap(plain(sentence), columns)),
  ];
}

function panelLines(panel: BatchReportPanel, isNamed: boolean, columns: number, ink: TextStyle): string[] {
  const { calibration, models, thresholds, order_unknown: unordered = 0 } = panel;
  const of = isNamed ? ` of ${plain(panel.preset)}` : '';
  const { error, brier, polls } = calibration;
  return [
    ...section(`Models alone${of}`, modelTable(models, columns), ink),
    ...section(`Thresholds${of}, replayed from the votes`, thresholdTable(thresholds, columns), ink),
    ...(unordered === 0
      ? []
      : [`  all but the first without ${plural(unordered, 'poll')}, for which the order of the votes is not known`]),
    ...section(
      `Calibration${of}: stated confidence (┊) and how often it came true (█)`,
      bars(ofCalibration(calibration), columns),
      ink,
    ),
    ...(error === null
      ? []
      : [
          `  error ${percent(error)}${brier === null ? '' : `, Brier ${brier.toFixed(3)}`}, over ${plural(polls, 'poll')}`,
        ]),
  ];
}

const section = (title: string, lines: readonly string[], ink: TextStyle): string[] =>
  lines.length === 0 ? [] : ['', ink.bold(title), ...lines];

interface Bar {
  from: number;
  to: number;
  said: number;
  was: number | null;
  note: string;
}

/** A bar for how often it was right, and a mark for the stated confidence. */
function bars(list: readonly Bar[], columns: number): string[] {
  const barColumns = Math.max(10, Math.min(40, columns - 40));
  return list.map(({ from, to, said, was, note }) => {
    const name = from === 1 ? 'final' : `${from.toFixed(2)} to ${to.toFixed(2)}`;
    const full = Math.round((was ?? 0) * barColumns);
    const mark = Math.min(barColumns - 1, Math.round(said * barColumns));
    const bar = [...'█'.repeat(full).padEnd(barColumns, '·')];
    bar[mark] = '┊';
    return `  ${name.padEnd(13)} ${bar.join('')}  ${percent(was).padStart(6)}  ${note}`;
  });
}

const ofAnswers = (list: readonly ReportBand[]): Bar[] =>
  list
    .filter(({ right }) => right.of > 0)
    .map(({ from, to, said, right }) => ({ from, to, said, was: right.share, note: `${right.count} of ${right.of}` }));

const ofCalibration = ({ bands }: BatchCalibration): Bar[] =>
  bands.map(({ from, to, said, came_true, polls }) => ({
    from,
    to,
    said,
    was: came_true,
    note: plural(polls, 'poll'),
  }));

const modelTable = (models: readonly BatchModel[], columns: number): string[] =>
  table(
    ['model', 'accuracy', 'asked', 'panel on the same', 'per right answer'],
    models.map((model) => [
      fit(plain(model.model_id), 40),
      percent(model.accuracy.share),
      `${model.asked} of ${model.polls}`,
      percent(model.panel_accuracy.share),
      usd(model.cost_per_right_usd),
    ]),
    columns,
  );

const thresholdTable = (thresholds: readonly BatchThreshold[], columns: number): string[] =>
  table(
    ['threshold', 'accuracy', 'cost', 'calls saved', 'wrong stops', 'against as asked'],
    thresholds.map((one) => [
      one.confidence_threshold === null ? 'as asked' : one.confidence_threshold.toString(),
      percent(one.accuracy?.share ?? null),
      one.cost_usd === null ? '-' : costText(one.cost_usd),
      percent(one.calls_saved),
      one.wrong_stops === null ? '-' : `${one.wrong_stops.wrong} of ${one.wrong_stops.judged}`,
      one.difference === null ? '-' : `+${one.difference.gained} -${one.difference.lost}`,
    ]),
    columns,
  );

/** A share below 1 is never shown as 100%. */
const percent = (share: number | null): string =>
  share === null ? '-' : `${(share < 1 ? Math.min(99.9, Number((100 * share).toFixed(1))) : 100).toFixed(1)}%`;
const range = ({ low, high }: MeasuredShare): string => `${percent(low)} to ${percent(high)}`;
const usd = ({ mean }: MeasuredMean): string => (mean === null ? '-' : costText(mean));
