import type {
  CalibrationFigures,
  CalibrationVersion,
  PublishedBand,
  PublishedCalibration,
} from '@eloquentpoll/contracts';
import { type Certificate, hasAlarm, MAX_FEW_OPTIONS, orderInEffect } from '@eloquentpoll/voting';
import { badge, table, tabs } from '../components.ts';
import { percent, whole } from '../figures.ts';
import { type Html, html } from '../html.ts';
import { panelTitle } from '../panels.ts';

export const interval = ({ low, high }: { low: number | null; high: number | null }): string =>
  `${percent(low)} to ${percent(high)}`;

export const bandTable = (bands: readonly PublishedBand[]): Html =>
  table(
    'Stated confidence and how often it came true',
    html`<tr><th scope="col">Confidence</th><th scope="col" class="number">Said</th><th scope="col" class="number">Came true</th><th scope="col" class="number">Polls</th></tr>`,
    bands.map(
      (band) => html`<tr><th scope="row">${percent(band.from)} to ${percent(band.to)}${
        band.pooled
          ? html`<br><span class="muted small">merged bands with too few polls each; a poll can count in each of them</span>`
          : ''
      }</th><td class="number">${percent(band.said, 1)}</td><td class="number">${percent(band.came_true, 1)}<br><span class="muted small">${interval(band)}</span></td><td class="number">${whole(band.polls)}</td></tr>
`,
    ),
  );

type Row = CalibrationFigures & { name: Html };

/**
 * The same figures grouped by kind of poll. `minAudits`: the audits that the gate requires before the cheapest models
 * are asked first.
 */
export function groupTables({ presets, orders, months, versions }: PublishedCalibration, minAudits: number): Html {
  const ORDERS = { cheapest: 'Cheapest models first', shuffled: 'Shuffled' };
  return tabs('Audited polls by', [
    panel(
      'panel',
      'Panel',
      presets.map((one) => ({ ...one, name: html`${panelTitle(one.preset)}` })),
    ),
    panel(
      'order',
      'Asking order',
      orders.map((one) => ({ ...one, name: html`${ORDERS[one.order]}` })),
    ),
    panel(
      'month',
      'Month',
      months.map((one) => ({ ...one, name: html`${one.month}` })),
    ),
    panel(
      'roster',
      'Version of a panel',
      versions.map((one) => ({ ...one, name: versionName(one, minAudits) })),
    ),
  ]);
}

const panel = (id: string, title: string, rows: readonly Row[]) => ({
  id: `by-${id}`,
  title,
  content: table(
    `Audited polls by ${title.toLowerCase()}`,
    html`<tr><th scope="col">${title}</th><th scope="col" class="number wide-only">Audited</th><th scope="col" class="number">Stops</th><th scope="col" class="number wide-only">Said</th><th scope="col" class="number">Same winner</th><th scope="col" class="number">Wrong</th><th scope="col" class="number wide-only">Evidence</th></tr>`,
    rows.map(groupRow),
  ),
});

const groupRow = ({ name, audits, stops }: Row): Html =>
  html`<tr><th scope="row">${name}</th><td class="number wide-only">${whole(audits)}</td><td class="number">${whole(stops.polls)}</td><td class="number wide-only">${percent(stops.said, 1)}</td><td class="number">${percent(stops.came_true, 1)}${
    stops.polls === 0 ? '' : html`<br><span class="muted small">${interval(stops)}</span>`
  }</td><td class="number">${whole(stops.wrong)}<br><span class="muted small">of ${allowed(stops.allowed)} allowed</span></td><td class="number wide-only">${evidence(stops.evidence_kept)}</td></tr>
`;

export const allowed = (polls: number): string =>
  polls < 10 ? String(Number(polls.toFixed(1))) : whole(Math.floor(polls));

/** An e-value, shown only as precisely as is meaningful. */
export const evidence = (value: number): string =>
  value >= 1000 ? 'over 1,000' : value < 0.1 ? 'under 0.1' : String(Number(value.toPrecision(2)));

function versionName(version: CalibrationVersion, minAudits: number): Html {
  const { roster_version, preset, search, models, current } = version;
  return html`<span class="mono">${roster_version.slice(0, 8)}</span>${current ? html` ${badge('asked now', 'good')}` : ''}<br>
<span class="muted small">${panelTitle(preset)}${search ? ' with web search' : ''}, ${models.length} models${gateText(version, minAudits)}</span>`;
}

/** Uses the rules for accepted polls: an alarm for either kind of question applies to both. */
function gateText({ order, few_options, many_options }: CalibrationVersion, minAudits: number): string {
  if (order === 'shuffled') return '';
  const certificates = { fewOptions: certificateOf(few_options), manyOptions: certificateOf(many_options) };
  if (hasAlarm(certificates))
    return ', alarm: too many wrong stops, so the order is shuffled and only a final outcome stops polls early';
  const [few, many] = [MAX_FEW_OPTIONS, MAX_FEW_OPTIONS + 1].map(
    (options) => orderInEffect(order, options, certificates, minAudits) === 'cheapest',
  );
  if (few && many) return ', certified to ask its cheapest models first';
  if (few)
    return `, certified to ask its cheapest models first with up to ${MAX_FEW_OPTIONS} options, shuffled with more`;
  if (many)
    return `, certified to ask its cheapest models first with more than ${MAX_FEW_OPTIONS} options, shuffled with fewer`;
  return ', not yet certified to ask its cheapest models first';
}

const certificateOf = (gate: CalibrationVersion['few_options']): Certificate => ({
  audits: gate?.audits ?? 0,
  isCertified: gate?.certified ?? false,
  isAlarmed: gate?.alarmed ?? false,
});
