import type { Surface } from '@eloquentpoll/contracts';
import type { Facts } from '../discovery/documents/facts.ts';
import { surfacesOf } from '../discovery/documents/surfaces.ts';
import { runsFreePolls } from '../polls/order/runs-free-polls.ts';
import { badge, type Tone } from './components.ts';
import { select } from './form-parts.ts';
import { type Html, html } from './html.ts';
import { layout } from './layout.ts';

// /surfaces: the content of /api/surfaces as a page.

export interface SurfacesFilter {
  category?: string | undefined;
  user?: string | undefined;
}

const CATEGORIES: readonly { name: Surface['category']; title: string; what: string; tone: Tone }[] = [
  { name: 'standard', title: 'Standards', what: 'Published standards in wide use.', tone: 'good' },
  { name: 'emerging', title: 'Emerging', what: 'Specified or agreed upon, and supported by some.', tone: 'accent' },
  { name: 'speculative', title: 'Speculative', what: 'No standard yet.', tone: 'warn' },
];

const USERS = [
  { value: 'human', label: 'People' },
  { value: 'coding_agent', label: 'Coding agents' },
  { value: 'browser_agent', label: 'Browser agents' },
] as const;

export function surfacesPage(facts: Facts, filter: SurfacesFilter): string {
  const all = surfacesOf(facts);
  const shown = all.filter(
    ({ category, user_types }) =>
      (!filter.category || category === filter.category) &&
      (!filter.user || user_types.some((type) => type === filter.user)),
  );
  return layout({
    baseUrl: facts.baseUrl,
    path: '/surfaces',
    title: 'All integrations · EloquentPoll',
    description: `${all.length} ways for people, coding agents and browser agents to find and use this service, and how a program can detect each.`,
    offersFreePolls: runsFreePolls(facts),
    styles: ['catalog'],
    main: html`<h1 id="all">All integrations</h1>
<p class="lead">To install one, see <a href="/connect">Connect</a>.</p>
<p>People, coding agents and browser agents connect in different ways. Each lists its endpoints and how software can detect it.
API: <a href="/api/surfaces">/api/surfaces</a></p>
<form class="filters" action="/surfaces#all">
${select('user', 'For', [{ value: '', label: 'All' }, ...USERS], filter.user)}
${select('category', 'Maturity', [{ value: '', label: 'All' }, ...CATEGORIES.map(({ name, title }) => ({ value: name, label: title }))], filter.category)}
<button class="button">Show</button>
</form>
<p class="muted" role="status">${shown.length === 0 ? 'Nothing matches these filters.' : `${shown.length} of ${all.length} integrations`}</p>
${CATEGORIES.map((category) => section(category, shown))}`,
  });
}

function section({ name, title, what, tone }: (typeof CATEGORIES)[number], shown: readonly Surface[]): Html {
  const own = shown.filter(({ category }) => category === name);
  if (own.length === 0) return html``;
  return html`<h2 id="${name}">${title}</h2>
<p class="muted">${what}</p>
<div class="grid wide-cells">
${own.map((surface) => card(surface, tone))}</div>
`;
}

const card = ({ pattern_id, category, user_types, description, user_story, artifacts, ...rest }: Surface, tone: Tone) =>
  html`<article class="card stack" id="${pattern_id}">
<div class="row spread"><h3><a class="plain-link" href="#${pattern_id}">${titleOf(pattern_id)}</a></h3>${badge(category, tone)}</div>
<p>${description}</p>
<p class="muted">“${user_story}”</p>
<dl class="facts small">
<dt>Id</dt><dd><code>${pattern_id}</code></dd>
<dt>For</dt><dd>${user_types.map((type) => USERS.find(({ value }) => value === type)?.label ?? type).join(', ')}</dd>
<dt>At</dt><dd>${artifacts.map((path) => html`<code>${path}</code> `)}</dd>
<dt>Detected by</dt><dd>${rest.detection_rule}</dd>
${rest.standard_refs ? html`<dt>Described in</dt><dd>${rest.standard_refs.map((url) => html`<a href="${url}" rel="noreferrer">${hostAndPath(url)}</a> `)}</dd>` : ''}
</dl>
</article>
`;

/** Turns `mcp-server` into "MCP server". */
function titleOf(id: string): string {
  const words = id.split('-').map((word) => WRITTEN[word] ?? word);
  return words.join(' ').replace(/^./, (first) => first.toUpperCase());
}

const WRITTEN: Readonly<Record<string, string>> = {
  a2a: 'A2A',
  ai: 'AI',
  api: 'API',
  mcp: 'MCP',
  rest: 'REST',
  llms: 'LLM',
  txt: 'text',
};

const hostAndPath = (url: string): string => url.replace(/^https:\/\/(www\.)?/, '').replace(/\/$/, '');
