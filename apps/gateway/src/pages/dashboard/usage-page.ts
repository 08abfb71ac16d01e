import { NO_KEY, PANEL_NAMES, type UsageFigures, type UsageGroup } from '@eloquentpoll/contracts';
import type { StoredApiKey } from '@eloquentpoll/storage';
import { table } from '../components.ts';
import { percent, seconds, usd, whole } from '../figures.ts';
import { type Choice, select } from '../form-parts.ts';
import { type Html, html } from '../html.ts';
import { panelTitle } from '../panels.ts';
import { dashboardLayout } from './dashboard-layout.ts';
import { type BalanceLevel, lowBalanceBanner } from './low-balance.ts';
import { MAX_PARTS, type UsageView } from './read-usage-view.ts';
import { colourOf, medianChart, spendChart } from './usage-charts.ts';
import { GROUPINGS, RANGES, type UsageAsked, usageAddress } from './usage-filter.ts';

export const USAGE_PATH = '/dashboard/usage';

export interface UsageShown {
  asked: UsageAsked;
  view: UsageView;
  keys: readonly StoredApiKey[];
  /** The interfaces that the account has used, such as API or MCP. */
  surfaces: readonly string[];
  balance: BalanceLevel;
  /** Why a form was refused. */
  problem?: string;
}

/** What was spent, on what, and what early stopping saved. */
export const usagePage = (baseUrl: string, shown: UsageShown): string =>
  dashboardLayout({
    baseUrl,
    path: USAGE_PATH,
    heading: 'Usage',
    styles: ['polls'],
    main: html`${lowBalanceBanner(shown.balance)}
${filterForm(shown)}
${figures(shown.view)}
${shown.view.total.polls === 0 ? html`<p class="muted">No poll ended in this time. <a href="/dashboard#run">Run one</a>, or <a href="${USAGE_PATH}?days=90">look at 90 days</a>.</p>` : charts(shown)}
${lowBalanceForm(shown)}`,
  });

const BY_NAMES = { key: 'API key', preset: 'Panel', surface: 'Surface' } as const;

const filterForm = ({
  asked,
  keys,
  surfaces,
}: UsageShown): Html => html`<form class="usage-filter" action="${USAGE_PATH}" aria-label="Filter usage">
<div class="filter-fields">
${select(
  'days',
  'Time',
  RANGES.map((days) => ({ value: String(days), label: `Last ${days} days` })),
  String(asked.days),
)}
${select(
  'by',
  'Split by',
  GROUPINGS.map((by) => ({ value: by, label: BY_NAMES[by] })),
  asked.by,
)}
${select('key', 'API key', [ALL, ...keys.map(keyChoice), { value: NO_KEY, label: 'Without a key' }], asked.key)}
${select('preset', 'Panel', [ALL, ...PANEL_NAMES.map((name) => ({ value: name, label: panelTitle(name) }))], asked.preset)}
${select('surface', 'Surface', [ALL, ...surfaces.map((name) => ({ value: name, label: name }))], asked.surface)}
<button class="button">Show</button>
</div>
</form>
`;

const ALL: Choice = { value: '', label: 'All' };

const keyChoice = ({ id, prefix, label, revokedAt }: StoredApiKey): Choice => ({
  value: id,
  label: `${label || `${prefix}…`}${revokedAt ? ' (revoked)' : ''}`,
});

/** Four figures, each compared with the period of the same length before. */
function figures({ total, previous, days }: UsageView): Html {
  const before = `the ${days.length} days before`;
  const line = (name: string, value: Html | string, change: string) =>
    html`<div class="card stat"><dt>${name}</dt><dd>${value}<span class="change muted">${change}</span></dd></div>`;
  return html`<dl class="grid stats usage-stats">
${line('Spent', usd(total.cost_usd), changeOf(total.cost_usd, previous.cost_usd, before))}
${line('Polls', whole(total.polls), changeOf(total.polls, previous.polls, before))}
${line(
  'Saved by stopping early',
  html`${usd(total.saved_usd)} <span class="share">${total.saved_usd > 0 ? percent(savedShare(total)) : ''}</span>`,
  changeOf(total.saved_usd, previous.saved_usd, before),
)}
${line('Split or partial', percent(splitShare(total)), pointsOf(splitShare(total), splitShare(previous), before))}
</dl>
`;
}

/** The share of what asking every model would have cost. */
const savedShare = ({ saved_usd, cost_usd }: UsageFigures): number => saved_usd / (saved_usd + cost_usd);

const splitShare = ({ split_or_partial, polls }: UsageFigures): number | null =>
  polls === 0 ? null : split_or_partial / polls;

function changeOf(now: number, before: number, when: string): string {
  if (before === 0) return now === 0 ? '' : `none in ${when}`;
  const share = now / before - 1;
  if (Math.abs(share) < 0.005) return `as in ${when}`;
  return share > 9 ? `${whole(Math.round(now / before))} times ${when}` : `${signed(100 * share)}% against ${when}`;
}

function pointsOf(now: number | null, before: number | null, when: string): string {
  if (now === null || before === null) return '';
  const points = Math.round(100 * (now - before));
  return points === 0
    ? `as in ${when}`
    : `${signed(points)} ${Math.abs(points) === 1 ? 'point' : 'points'} against ${when}`;
}

const signed = (value: number): string => `${value > 0 ? '+' : '−'}${Math.abs(Math.round(value))}`;

function charts({ asked, view, keys }: UsageShown): Html {
  const named = (group: UsageGroup) => nameOf(group, view.by, keys);
  const largest = view.groups.filter(({ cost_usd }) => cost_usd > 0);
  const names = largest.slice(0, MAX_PARTS).map(named);
  const median = medianChart(view.days);
  return html`<section class="card" aria-labelledby="spend-title"><h2 id="spend-title">Spend per day</h2>
${view.total.cost_usd === 0 ? html`<p class="muted">Nothing was charged in this time.</p>` : spendChart(view.days, largest.length > MAX_PARTS ? [...names, 'Others'] : names)}
${median === null ? '' : html`<h3>Median time of a poll</h3>${median}`}
<details class="small"><summary>Days as a table</summary>${dayTable(view)}</details>
</section>
<section aria-labelledby="groups-title"><h2 id="groups-title">${{ key: 'API keys by spend', preset: 'Panels by spend', surface: 'Surfaces by spend' }[view.by]}</h2>
${groupTable(view, named)}
<p class="row small export"><span class="muted">Everything on this page:</span>
<a class="button secondary small" href="${usageAddress(`${USAGE_PATH}/export`, asked, { format: 'csv' })}">CSV</a>
<a class="button secondary small" href="${usageAddress(`${USAGE_PATH}/export`, asked, { format: 'json' })}">JSON</a></p>
<p class="muted small">Days are UTC days on which polls ended. The saving is an estimate: the usual cost of the models that were not asked. Medians are of completed polls, exact to 5%.</p>
</section>
`;
}

const MAX_GROUPS = 100;

const groupTable = ({ groups, by }: UsageView, named: (group: UsageGroup) => string): Html =>
  html`${table(
    `${BY_NAMES[by]} by spend`,
    html`<tr><th scope="col">${BY_NAMES[by]}</th>${FIGURE_HEADS}</tr>`,
    groups.slice(0, MAX_GROUPS).map(
      (
        group,
        i,
      ) => html`<tr><th scope="row"><span class="${colourOf(i)}"><span class="dot"></span></span> <span dir="auto">${named(group)}</span></th>${figureCells(group)}</tr>
`,
    ),
  )}${groups.length > MAX_GROUPS ? html`<p class="muted small">The ${MAX_GROUPS} largest of ${whole(groups.length)}; the export has all.</p>` : ''}`;

const dayTable = ({ days }: UsageView): Html =>
  table(
    'Days',
    html`<tr><th scope="col">Day</th>${FIGURE_HEADS}</tr>`,
    days.toReversed().map(
      (day) => html`<tr><th scope="row" class="when">${day.day}</th>${figureCells(day)}</tr>
`,
    ),
  );

const FIGURE_HEADS = html`<th scope="col" class="number">Spent</th><th scope="col" class="number">Polls</th><th scope="col" class="number">Saved</th><th scope="col" class="number wide-only">Split or partial</th><th scope="col" class="number wide-only">No answer</th><th scope="col" class="number wide-only">Median time</th><th scope="col" class="number wide-only">Median cost</th>`;

const figureCells = (figures: UsageFigures): Html =>
  html`<td class="number">${usd(figures.cost_usd)}</td><td class="number">${whole(figures.polls)}</td><td class="number">${usd(figures.saved_usd)}</td><td class="number wide-only">${percent(splitShare(figures))}</td><td class="number wide-only">${whole(figures.failed)}</td><td class="number wide-only">${seconds(figures.median_ms)}</td><td class="number wide-only">${usd(figures.median_cost_usd)}</td>`;

function nameOf({ group, label }: UsageGroup, by: UsageView['by'], keys: readonly StoredApiKey[]): string {
  if (by !== 'key') return group;
  if (group === NO_KEY) return 'Without a key';
  const prefix = keys.find(({ id }) => id === group)?.prefix;
  return label || (prefix ? `${prefix}…` : group);
}

const lowBalanceForm = ({
  balance: { lowU },
  problem,
}: UsageShown): Html => html`<section class="card" id="low-balance" aria-labelledby="low-title">
<h2 id="low-title">Low balance</h2>
<form class="inline-form" method="post" action="${USAGE_PATH}/low-balance">
<p class="field"><label for="low-amount">Warn below ($)</label>
<input id="low-amount" name="amount" inputmode="decimal" autocomplete="off" value="${lowU === null ? '' : Number(lowU) / 1_000_000}" placeholder="never" aria-describedby="low-hint"${problem ? html` aria-invalid="true"` : ''}></p>
<button class="button secondary">Save</button>
</form>
${problem ? html`<p class="field-error" role="alert">${problem}</p>` : ''}
<p class="hint" id="low-hint">Shown on the dashboard, and sent once as <code>balance.low</code> to your webhooks. Leave it empty to switch it off.</p>
</section>
`;
