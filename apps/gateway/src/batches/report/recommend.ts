import type {
  BatchModel,
  BatchRecommendation,
  BatchReportPanel,
  BatchThreshold,
  PanelName,
} from '@eloquentpoll/contracts';
import { dollars } from '@eloquentpoll/voting/verdict';
import { shareDifference } from './measures.ts';
import { count, percentText, points, rangeOf, sharePercent } from './report-words.ts';

// Draws only conclusions that the report's figures support. A cheaper choice is recommended if it was right as often,
// to within two points, at the lower end of the interval.

/** With fewer rows, intervals are wider than any difference that matters. */
export const MIN_ROWS = 100;
const MARGIN = 0.02;
/** Smaller savings are not worth a change. */
const MIN_SAVED = 0.02;

/** Presets that were asked the same rows as this one, itself among them. */
type AskedTheSame = (preset: PanelName) => ReadonlySet<PanelName>;

/** `panels` begin with the one that was asked most rows. */
export function recommend(
  panels: readonly BatchReportPanel[],
  judged: number,
  askedTheSame: AskedTheSame,
): BatchRecommendation {
  const enough = panels.filter(({ polls }) => polls >= MIN_ROWS);
  const first = enough[0];
  if (judged < MIN_ROWS || first === undefined) return tooFewRows(panels, judged);
  const same = askedTheSame(first.preset);
  const { best, isCheaper, compared } = bestPanel(
    first,
    enough.filter(({ preset }) => same.has(preset)),
  );
  const choice = cheaperThreshold(best);
  const threshold = choice?.option.confidence_threshold ?? commonThreshold(best);
  return {
    kind: choice === null && !isCheaper ? 'keep' : 'change',
    ...{ preset: best.preset, confidence_threshold: threshold, cost_saved: choice?.saved ?? 0 },
    sentences: [
      ...compared,
      ...otherRowsText(
        first,
        enough.filter(({ preset }) => !same.has(preset)),
      ),
      choice === null ? keepText(best, isCheaper) : changeText(best, choice),
      ...moreAccurateText(best, choice?.option),
      ...unknownText(best),
      ...modelText(best),
      'Chosen from the same rows that judge it, so expect a little less on new ones.',
    ],
  };
}

function tooFewRows(panels: readonly BatchReportPanel[], judged: number): BatchRecommendation {
  const most = panels[0];
  const seen = most ? ` So far ${most.preset} was right in ${sharePercent(most.accuracy)}.` : '';
  return {
    ...{ kind: 'more_rows', preset: null, confidence_threshold: null, cost_saved: null },
    sentences: [
      `${count(judged, 'row')} with a right answer ${judged === 1 ? 'is' : 'are'} too few to choose by: ask ${MIN_ROWS} at least for each preset, better some hundreds.${seen}`,
    ],
  };
}

const costPerPoll = ({ cost_usd, polls }: BatchReportPanel): number => cost_usd / polls;

interface Compared {
  best: BatchReportPanel;
  /** Cheaper than another panel that may be as accurate. */
  isCheaper: boolean;
  compared: string[];
}

/**
 * The cheapest panel of which the rows show that it is right as often as the most accurate one, to within the margin. Of
 * panels that were asked the same rows. That the rows do not show a difference is not enough: of 100 rows, a panel that is
 * right seven points less often would be chosen every second time.
 */
function bestPanel(only: BatchReportPanel, panels: readonly BatchReportPanel[]): Compared {
  const [first = only, ...others] = panels.toSorted(
    (a, b) => b.accuracy.share! - a.accuracy.share! || costPerPoll(a) - costPerPoll(b),
  );
  if (others.length === 0) return { best: first, isCheaper: false, compared: [] };
  const cheaper = others
    .filter((panel) => costPerPoll(panel) < costPerPoll(first))
    .map((panel) => ({ panel, ...shareDifference(panel.accuracy, first.accuracy) }))
    .toSorted((a, b) => costPerPoll(a.panel) - costPerPoll(b.panel));
  const shown = cheaper.find(({ low }) => low >= -MARGIN);
  const best = shown?.panel ?? first;
  const each = panels
    .map((panel) => `${panel.preset} in ${sharePercent(panel.accuracy)} for ${dollars(costPerPoll(panel))} a poll`)
    .join('; ');
  return {
    best,
    isCheaper: panels.some((panel) => costPerPoll(best) < costPerPoll(panel)),
    compared: [
      `Right answers: ${each}.`,
      shown ? cheaperText(first, shown) : `No preset was right more often than ${first.preset}.`,
      ...(shown ? [] : cheaper.slice(0, 1).map((one) => notShownText(first, one))),
    ],
  };
}

type CheaperPanel = { panel: BatchReportPanel } & ReturnType<typeof shareDifference>;

const savedText = (than: BatchReportPanel, panel: BatchReportPanel): string =>
  `${panel.preset} cost ${percentText(1 - costPerPoll(panel) / costPerPoll(than), 0)} less a poll than ${than.preset}`;

const cheaperText = (first: BatchReportPanel, { panel, mean, low, high }: CheaperPanel): string =>
  `${savedText(first, panel)}: a difference of ${points(mean)}, 95% interval ${rangeOf(low, high, points)}.`;

const notShownText = (first: BatchReportPanel, { panel, low }: CheaperPanel): string =>
  `${savedText(first, panel)}, but may be right up to ${points(-low)} less often, as far as these rows show.`;

/** Other rows may be easier or harder, so right answers to them say nothing about which preset is better. */
function otherRowsText({ preset }: BatchReportPanel, others: readonly BatchReportPanel[]): string[] {
  if (others.length === 0) return [];
  const names = others.map((other) => other.preset).join(' and ');
  return [
    `${names} ${others.length === 1 ? 'was' : 'were'} not asked the same rows as ${preset}, so ${others.length === 1 ? 'it is' : 'they are'} not compared with it. To compare presets, ask the same rows with each.`,
  ];
}

interface Choice {
  option: BatchThreshold;
  saved: number;
}

/** The lowest threshold whose interval shows that it loses at most the margin. */
function cheaperThreshold({ thresholds: [asked, ...others] }: BatchReportPanel): Choice | null {
  for (const option of others) {
    const { cost_usd, difference, as_asked: { cost_usd: asAsked } = asked! } = option;
    if (cost_usd === null || !asAsked || difference?.low == null || difference.low < -MARGIN) continue;
    const saved = 1 - cost_usd / asAsked;
    if (saved >= MIN_SAVED) return { option, saved: Math.round(saved * 1e4) / 1e4 };
  }
  return null;
}

const commonThreshold = ({ confidence_threshold: { min, max } }: BatchReportPanel): number | null =>
  min === max ? min : null;

const changeText = (panel: BatchReportPanel, choice: Choice): string =>
  differenceText(panel, choice) + wrongStopText(choice.option);

/** A threshold can be right as often although its early stops give another answer than the whole panel. */
function wrongStopText({ wrong_stops: stops }: BatchThreshold): string {
  if (!stops?.wrong) return '';
  const atLeast = stops.share === null ? 'at least ' : '';
  return ` Of its ${count(stops.of, 'early stop')}, ${atLeast}${stops.wrong.toLocaleString('en-US')} had another answer than that of the full panel.`;
}

/** The threshold that was significantly more often right than the polls as asked, unless it is the one recommended. */
function moreAccurateText({ thresholds }: BatchReportPanel, chosen: BatchThreshold | undefined): string[] {
  const better = thresholds
    .filter(({ difference }) => difference !== null && difference.low !== null && difference.low > 0)
    .toSorted((a, b) => b.difference!.mean! - a.difference!.mean!)[0];
  if (better === undefined || better === chosen) return [];
  const { mean, low, high } = better.difference!;
  return [
    `A threshold of ${better.confidence_threshold} was right most often, for ${dollars(better.cost_usd! / better.accuracy!.of)} a poll: ${points(mean!)} more than as asked, 95% interval ${rangeOf(low!, high!, points)}.`,
  ];
}

function differenceText(panel: BatchReportPanel, { option, saved }: Choice): string {
  const { mean, low, high } = option.difference!;
  const { accuracy } = option.as_asked ?? panel;
  return (
    `With a threshold of ${option.confidence_threshold}, ${panel.preset} would have cost ${percentText(saved, 0)} less ` +
    `and been right in ${sharePercent(option.accuracy!)} instead of ${percentText(accuracy.share!)}: ` +
    `a difference of ${points(mean!)}, 95% interval ${rangeOf(low!, high!, points)}.`
  );
}

function keepText(panel: BatchReportPanel, isCheaper: boolean): string {
  const threshold = commonThreshold(panel);
  const asAsked = threshold === null ? 'as it was asked' : `with its threshold of ${threshold}`;
  const asAskedUsd = ({ as_asked: { cost_usd } = panel }: BatchThreshold) => cost_usd;
  const open = panel.thresholds.find(
    (one) =>
      one.confidence_threshold !== null &&
      one.cost_usd !== null &&
      one.cost_usd < asAskedUsd(one) &&
      one.difference!.low! < -MARGIN,
  );
  const why = open
    ? ` A threshold of ${open.confidence_threshold} would have cost ${percentText(1 - open.cost_usd! / asAskedUsd(open), 0)} less, but may be right up to ${points(-open.difference!.low!)} less often, as far as these rows show.`
    : '';
  return `${isCheaper ? 'Use' : 'Keep'} ${panel.preset} ${asAsked}: it was right in ${sharePercent(panel.accuracy)}.${why}`;
}

function unknownText(panel: BatchReportPanel): string[] {
  const { preset, thresholds } = panel;
  const first = thresholds.find(({ unknown }) => unknown > 0);
  if (first === undefined) return orderText(panel);
  return [
    ...orderText(panel),
    `Nothing is known about ${preset} with a threshold of ${first.confidence_threshold} or more: ${count(first.unknown, 'poll')} had stopped before, and votes that were not asked for cannot be replayed. Run the same rows with a threshold of 1 to compare all thresholds.`,
  ];
}

function orderText({ preset, order_unknown: polls = 0, thresholds }: BatchReportPanel): string[] {
  if (polls === 0) return [];
  const of = `${count(polls, 'poll')} moved to another worker while running, so that the order of the votes is not known`;
  return thresholds.some(({ unknown, accuracy }) => unknown === 0 && accuracy === null)
    ? [`Nothing is known about ${preset} with other thresholds: ${of}. Run the same rows again to compare thresholds.`]
    : [`The comparison of other thresholds leaves out some polls: ${of}.`];
}

/** The single model that was significantly more often right than the panel, on polls in which both answered. */
function modelText(panel: BatchReportPanel): string[] {
  const { models, polls } = panel;
  const better = models
    .filter(({ asked, difference }) => asked >= MIN_ROWS && difference.low! > 0)
    .toSorted((a: BatchModel, b: BatchModel) => b.difference.mean! - a.difference.mean!)[0];
  if (better === undefined) return [];
  const where = better.asked === polls ? '' : ` in the ${count(better.asked, 'poll')} in which it was asked`;
  return [
    `${better.model_id} alone was right more often than the panel${where}: ${sharePercent(better.accuracy)} against ${percentText(better.panel_accuracy.share!)}, for ${dollars(better.cost_usd / better.asked)} a vote against ${dollars(costPerPoll(panel))} a poll.`,
  ];
}
