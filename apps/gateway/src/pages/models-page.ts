import type { ModelReputation } from '@eloquentpoll/contracts';
import { MIN_VOTES_OF_A_MODEL, shareInterval } from '@eloquentpoll/evidence';
import { isFree } from '@eloquentpoll/polls';
import type { FailedModel } from '@eloquentpoll/storage';
import type { Facts } from '../discovery/documents/facts.ts';
import type { CountedWindow } from '../discovery/reputations.ts';
import { runsFreePolls } from '../polls/order/runs-free-polls.ts';
import { notice, table } from './components.ts';
import { percent, perMillion, seconds, usd, whole, windowText } from './figures.ts';
import { select } from './form-parts.ts';
import { type Html, html } from './html.ts';
import { layout } from './layout.ts';
import { modelAnchor, modelPath } from './model-anchor.ts';
import { CAPABILITIES, fits, type ListedModel, listModels, type ModelsFilter } from './models-filter.ts';
import { COLUMNS, type Column, type ModelRow, nextSort, orderOf, type SortOrder, sortRows } from './models-sort.ts';
import { PANEL_TEXTS, panelTitle } from './panels.ts';

// /models: every model with its panels, price and record. Order and filters are in the address; with scripts, rows are
// filtered without a page load.

export function modelsPage(
  facts: Facts,
  { rows: reputation, window }: { rows: readonly ModelReputation[]; window: CountedWindow },
  out: ReadonlyMap<string, FailedModel>,
  filter: ModelsFilter,
): string {
  const records = new Map(reputation.map((row) => [row.model_id, row]));
  const listed = listModels(facts.panels);
  const order = orderOf(filter.sort);
  const rows = sortRows(
    listed.map((one) => ({ ...one, record: records.get(one.model.id) })),
    order,
  );
  return layout({
    baseUrl: facts.baseUrl,
    path: '/models',
    title: 'Models: prices and recent record · EloquentPoll',
    description: `${listed.length} models from ${families(listed).length} vendors, the panels that hold them, their prices and their record in recent polls.`,
    offersFreePolls: runsFreePolls(facts),
    scripts: ['models'],
    styles: ['catalog'],
    main: html`<h1>Models</h1>
<p class="lead">Every model, its panels, its price and its record in polls ${windowText(window)}.</p>
${facts.panels.simulated ? notice(html`<p>These models and their records are simulated.</p>`, 'warn') : html``}
<h2 id="all">All models</h2>
<p class="muted small">Prices are what vendors charge per million tokens; what you pay is under <a href="/pricing">pricing</a>. “Valid” is the share of
requests that brought a vote, “Agreed with panel” the share of votes for the option that the whole panel elected, in polls of the last 30 days that
were drawn at random and completed after their answer. In other polls, a model that is asked late votes mostly on disputed questions. Under each
share: its 95% interval and the number of votes it rests on. Few votes, wide interval; fewer than ${MIN_VOTES_OF_A_MODEL} votes to compare, no share.</p>
${filterForm(facts, listed, order ? filter : { ...filter, sort: undefined })}
${modelsTable(rows, out, filter, order)}
<p class="muted small">Updated every five minutes. API: <a href="/api/reputation/models">/api/reputation/models</a>.
<a href="/trust">How alike the models are, and how often confidence came true</a></p>
<h2 id="panels">Panels</h2>
<div class="grid">
${panelsOf(facts).map((panel) => panelCard(facts, panel))}</div>`,
  });
}

function panelCard({ panels }: Facts, { name, who, when }: (typeof PANEL_TEXTS)[number]): Html {
  const { models } = panels.panel(name);
  const vendors = new Set(models.map(({ family }) => family)).size;
  return html`<section class="card stack">
<h3>${panelTitle(name)}</h3>
<p>${who}. ${when}</p>
<p class="muted small">${models.length} models from ${vendors} vendors</p>
<details class="small"><summary>Show them</summary>
<ul class="plain">
${models.map(({ id }) => html`<li><a href="#${modelAnchor(id)}">${id}</a></li>`)}
</ul></details>
</section>
`;
}

const panelsOf = (facts: Facts): typeof PANEL_TEXTS =>
  runsFreePolls(facts) ? PANEL_TEXTS : PANEL_TEXTS.filter(({ name }) => !isFree(name));

function filterForm(
  facts: Facts,
  listed: readonly ListedModel[],
  { family, preset, capability, sort }: ModelsFilter,
): Html {
  const all = { value: '', label: 'All' };
  return html`<form class="filters" action="/models#all" data-filter>
${select('family', 'Vendor', [all, ...families(listed).map(same)], family)}
${select('preset', 'Panel', [all, ...panelsOf(facts).map(({ name }) => ({ value: name, label: panelTitle(name) }))], preset)}
${select('capability', 'Capability', [all, ...CAPABILITIES.map(({ name, label }) => ({ value: name, label }))], capability)}
${sort ? html`<input type="hidden" name="sort" value="${sort}">` : ''}<button class="button">Show</button>
</form>
`;
}

const same = (value: string) => ({ value, label: value });

function modelsTable(rows: readonly ModelRow[], out: Out, filter: ModelsFilter, order: SortOrder | null): Html {
  const shown = rows.filter((row) => fits(row, filter)).length;
  const [model, ...figures] = COLUMNS.map((column) => columnHead(column, order, filter));
  return html`<p role="status" data-count>${countOf(shown, rows.length)}</p>
${table(
  'Models',
  html`<tr>${model!}<th scope="col" class="wide-only">Panels</th><th scope="col" class="wide-only">Capabilities</th>${figures}</tr>`,
  rows.map((row) => modelRow(row, out.get(row.model.id), fits(row, filter))),
)}`;
}

function columnHead(column: Column, order: SortOrder | null, filter: ModelsFilter): Html {
  const query = new URLSearchParams({ sort: nextSort(column, order) });
  for (const name of ['family', 'preset', 'capability'] as const) if (filter[name]) query.set(name, filter[name]);
  const sorted = order?.column === column ? (order.direction === 'lowest' ? 'ascending' : 'descending') : null;
  return html`<th scope="col"${headClass(column)}${sorted ? html` aria-sort="${sorted}"` : ''}><a class="sort" href="/models?${query.toString()}#all">${column.title}</a></th>`;
}

const ON_PHONES = ['cost', 'agreed'];

function headClass({ name }: Column): Html {
  if (name === 'model') return html``;
  return ON_PHONES.includes(name) ? html` class="number"` : html` class="number wide-only"`;
}

const countOf = (shown: number, all: number): string =>
  shown === 0 ? 'No model matches these filters.' : `${shown} of ${all} models`;

type Out = ReadonlyMap<string, FailedModel>;

export const FAILED_TESTS: Record<FailedModel['kind'], string> = {
  known: 'it failed simple test questions',
  injection: 'it followed texts inside questions',
  place: 'its votes changed with the order of the options',
  label: 'its votes changed with the labels of the options',
};

function modelRow(
  { model, panels, capabilities, record }: ModelRow,
  failed: FailedModel | undefined,
  isShown: boolean,
): Html {
  const { id, family, price } = model;
  return html`<tr id="${modelAnchor(id)}" data-family="${family}" data-preset="${panels.join(' ')}" data-capability="${capabilities
    .map(({ name }) => name)
    .join(' ')}"${isShown ? html`` : html` hidden`}>
<th scope="row" class="model"><a class="plain-link mono" href="${modelPath(id)}">${id}</a><br><span class="muted small">${family}</span>${failed ? html`<span class="small warn">Not asked at present: ${FAILED_TESTS[failed.kind]}.</span>` : ''}<span class="narrow-only muted small">${perMillion(price.input)} in, ${perMillion(price.output)} out</span></th>
<td class="small wide-only">${panels.map(panelTitle).join(', ')}</td>
<td class="small muted can wide-only">${capabilities.map(({ label }) => label).join(', ')}</td>
<td class="number wide-only">${perMillion(price.input)}</td>
<td class="number wide-only">${perMillion(price.output)}</td>
<td class="number wide-only">${whole(record?.ballots ?? 0)}</td>
<td class="number wide-only">${share(record?.success_rate ?? null, record?.ballots ?? 0)}</td>
<td class="number wide-only">${seconds(record?.average_latency_ms ?? null)}</td>
<td class="number">${usd(record?.average_cost_usd ?? null)}</td>
<td class="number">${share(record?.agreement_rate ?? null, record?.judged ?? 0)}</td>
</tr>
`;
}

/** A rate with its interval and the number of trials. */
function share(rate: number | null, trials: number): Html {
  if (rate === null || trials === 0) return html`${percent(null)}`;
  const { low, high } = shareInterval(Math.round(rate * trials), trials);
  return html`${percent(rate)}<br><span class="muted small">${percent(low)} to ${percent(high)}<br>n = ${whole(trials)}</span>`;
}

const families = (listed: readonly ListedModel[]): string[] => [...new Set(listed.map(({ model }) => model.family))];
