import type { BatchReportPanel, BatchThreshold } from '@eloquentpoll/contracts';
import { table } from '../../components.ts';
import { percent, whole } from '../../figures.ts';
import { type Html, html } from '../../html.ts';
import { measured, perRight, signedPoints } from './measured.ts';

const COLUMNS = 8;

export const thresholdTable = ({ thresholds, polls, order_unknown: unordered = 0 }: BatchReportPanel): Html =>
  html`${table(
    'What each threshold would have cost and saved',
    html`<tr><th scope="col">Threshold</th><th scope="col" class="number">Right</th><th scope="col" class="number">Compared with as asked</th><th scope="col" class="number">Cost per right answer</th><th scope="col" class="number">Cost saved</th><th scope="col" class="number">Votes saved</th><th scope="col" class="number">Stopped early</th><th scope="col" class="number">Wrong stops</th></tr>`,
    thresholds.map((one) => row(one, polls, unordered)),
  )}
<p class="muted small">Cost and votes saved are compared with asking every model; a vote that was not asked for is valued at the average cost of its model here. A wrong stop is an early stop with another answer than that of the full panel, whether right or not; it is not known for polls that confidence stopped. Differences are in points, poll by poll.${unordered === 0 ? '' : ` Other thresholds are without ${ofPolls(unordered, polls)}: another worker took over on the way, and the order of the votes is not known.`}</p>`;

const ofPolls = (some: number, polls: number): string => `${whole(some)} of ${whole(polls)} polls`;

function row(one: BatchThreshold, polls: number, unordered: number): Html {
  const name = one.confidence_threshold === null ? 'As asked' : String(one.confidence_threshold);
  if (one.accuracy === null)
    return html`<tr><th scope="row">${name}</th><td class="muted" colspan="${COLUMNS - 1}">Not known: ${one.unknown > 0 ? `${ofPolls(one.unknown, polls)} had stopped before` : `the order of the votes of ${ofPolls(unordered, polls)} is not known`}.</td></tr>
`;
  return html`<tr><th scope="row">${name}</th><td class="number">${measured(one.accuracy)}</td><td class="number">${one.confidence_threshold === null ? '' : differenceCell(one.difference!)}</td><td class="number">${perRight(one.cost_per_right_usd!)}</td><td class="number">${percent(one.cost_saved, 1)}</td><td class="number">${percent(one.calls_saved, 1)}</td><td class="number">${percent(one.stopped_early!.share, 1)}</td><td class="number">${stopsCell(one.wrong_stops!)}</td></tr>
`;
}

const differenceCell = ({ mean, low, high }: NonNullable<BatchThreshold['difference']>): Html =>
  html`${signedPoints(mean)}<span class="muted small under">${signedPoints(low)} to ${signedPoints(high)}</span>`;

function stopsCell(stops: NonNullable<BatchThreshold['wrong_stops']>): Html {
  if (stops.share !== null) return measured(stops, 2);
  if (stops.of === 0) return html`none stopped`;
  if (stops.wrong === 0) return html`not known`;
  return html`at least ${percent(stops.wrong / stops.of, 1)}<span class="muted small under">${whole(stops.wrong)} of ${whole(stops.of)}</span>`;
}
