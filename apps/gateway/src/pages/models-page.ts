import type { ModelReputation } from '@eloquentpoll/contracts';
import type { Facts } from '../discovery/documents/facts.ts';
import { badge, notice, table } from './components.ts';
import { percent, perMillion, seconds, usd, whole } from './figures.ts';
import { select } from './form-parts.ts';
import { type Html, html } from './html.ts';
import { layout } from './layout.ts';
import { CAPABILITIES, fits, type ListedModel, listModels, type ModelsFilter } from './models-filter.ts';
import { PANEL_TEXTS } from './panels.ts';

// /models: who votes, in which panel, at what price, and how each has done lately. The form works by itself; where
// scripts run, rows come and go without a new page.

export function modelsPage(facts: Facts, reputation: readonly ModelReputation[], filter: ModelsFilter): string {
  const records = new Map(reputation.map((row) => [row.model_id, row]));
  const listed = listModels(facts.panels);
  return layout({
    baseUrl: facts.baseUrl,
    path: '/models',
    title: 'Models: who votes, and how they did · EloquentPoll',
    description: `${listed.length} models of ${families(listed).length} families, the panels that hold them, their prices and their record in recent polls.`,
    scripts: ['models'],
    styles: ['catalog'],
    main: html`<h1>Models</h1>
<p class="lead">Who votes, in which panel, at what price, and how each has done in the polls of the last 30 days.</p>
${facts.panels.simulated ? notice(html`<p>These models are simulated, and their records with them.</p>`, 'warn') : html``}
<h2 id="panels">Panels</h2>
<div class="grid">
${PANEL_TEXTS.map((panel) => panelCard(facts, panel))}</div>
<h2 id="all">All models</h2>
${filterForm(listed, filter)}
${modelsTable(listed, filter, records)}
<p class="muted small">Prices are what providers charge per million tokens; what you pay is on <a href="/pricing">pricing</a>. Records are counted every five minutes from stored polls, and are
there for programs at <a href="/api/reputation/models">/api/reputation/models</a>. Agreement is the share of votes for
the option that won.</p>`,
  });
}

function panelCard({ panels }: Facts, { name, who, when }: (typeof PANEL_TEXTS)[number]): Html {
  const { models } = panels.panel(name);
  const makers = new Set(models.map(({ family }) => family)).size;
  return html`<section class="card stack">
<h3><code>${name}</code></h3>
<p>${who}. ${when}</p>
<p class="muted small">${models.length} models of ${makers} makers</p>
<ul class="plain small">
${models.map(({ id }) => html`<li><a href="#${anchorOf(id)}">${id}</a></li>`)}
</ul>
</section>
`;
}

function filterForm(listed: readonly ListedModel[], { family, preset, capability }: ModelsFilter): Html {
  const all = { value: '', label: 'All' };
  return html`<form class="filters" action="/models#all" data-filter>
${select('family', 'Family', [all, ...families(listed).map(same)], family)}
${select('preset', 'Panel', [all, ...PANEL_TEXTS.map(({ name }) => same(name))], preset)}
${select('capability', 'Capability', [all, ...CAPABILITIES.map(({ name, label }) => ({ value: name, label }))], capability)}
<button class="button">Show</button>
</form>
`;
}

const same = (value: string) => ({ value, label: value });

function modelsTable(
  listed: readonly ListedModel[],
  filter: ModelsFilter,
  records: ReadonlyMap<string, ModelReputation>,
): Html {
  const shown = listed.filter((one) => fits(one, filter)).length;
  return html`<p role="status" data-count>${countOf(shown, listed.length)}</p>
${table(
  'Models',
  html`<tr><th scope="col">Model</th><th scope="col">Panels</th><th scope="col">Can</th><th scope="col" class="number">In, per M</th><th scope="col" class="number">Out, per M</th><th scope="col" class="number">Asked</th><th scope="col" class="number">Voted</th><th scope="col" class="number">Average time</th><th scope="col" class="number">A vote</th><th scope="col" class="number">Agreed</th></tr>`,
  listed.map((one) => modelRow(one, fits(one, filter), records.get(one.model.id))),
)}`;
}

const countOf = (shown: number, all: number): string =>
  shown === 0 ? `No model fits. There are ${all}.` : `${shown} of ${all} models`;

function modelRow({ model, panels, capabilities }: ListedModel, isShown: boolean, record?: ModelReputation): Html {
  const { id, family, price } = model;
  return html`<tr id="${anchorOf(id)}" data-family="${family}" data-preset="${panels.join(' ')}" data-capability="${capabilities
    .map(({ name }) => name)
    .join(' ')}"${isShown ? html`` : html` hidden`}>
<th scope="row" class="model"><span class="mono">${id}</span><br><span class="muted small">${family}</span></th>
<td>${spaced(panels.map((name) => badge(name, 'accent')))}</td>
<td class="small muted can">${capabilities.map(({ label }) => label).join(', ')}</td>
<td class="number">${perMillion(price.input)}</td>
<td class="number">${perMillion(price.output)}</td>
<td class="number">${whole(record?.votes ?? 0)}</td>
<td class="number">${percent(record?.success_rate ?? null, 1)}</td>
<td class="number">${seconds(record?.average_latency_ms ?? null)}</td>
<td class="number">${usd(record?.average_cost_usd ?? null)}</td>
<td class="number">${percent(record?.agreement_rate ?? null)}</td>
</tr>
`;
}

const spaced = (parts: readonly Html[]): Html[] => parts.map((part) => html`${part} `);

const families = (listed: readonly ListedModel[]): string[] => [...new Set(listed.map(({ model }) => model.family))];

const anchorOf = (id: string): string => `model-${id.replace(/[^\w.-]/g, '-')}`;
