import { PANEL_NAMES } from '@eloquentpoll/contracts';
import type { StoredApiKey } from '@eloquentpoll/storage';
import { type Choice, select } from '../form-parts.ts';
import { type Html, html } from '../html.ts';
import { panelTitle } from '../panels.ts';
import { type PollsFilter, SHOWN, SORTED } from './polls-filter.ts';

/** Rarely used filters: collapsed until one of them is set. */
const FOLDED = ['preset', 'key', 'from', 'to', 'label', 'sort'] as const;

export function pollsForm(path: string, { fields }: PollsFilter, keys: readonly StoredApiKey[]): Html {
  const isOpen = FOLDED.some((name) => fields[name] !== undefined);
  return html`<form class="history-filter" action="${path}" role="search" aria-label="Filter polls">
<div class="filter-line">
<p class="field"><label for="q">Search in questions</label>
<input id="q" name="q" type="search" maxlength="200" value="${fields.q ?? ''}" dir="auto" autocomplete="off" data-search></p>
${select('show', 'Show', SHOWN, fields.show)}
<button class="button">Filter</button>
${Object.keys(fields).length === 0 ? '' : html`<a class="button quiet" href="${path}">Clear</a>`}
</div>
<details${isOpen ? html` open` : ''}><summary>More filters</summary>
<div class="filter-fields">
${select('preset', 'Panel', [{ value: '', label: 'Any' }, ...PANEL_NAMES.map((name) => ({ value: name, label: panelTitle(name) }))], fields.preset)}
${select('key', 'API key', [{ value: '', label: 'Any' }, ...keys.map(keyChoice)], fields.key)}
${dateField('from', 'From', fields.from)}
${dateField('to', 'To', fields.to)}
<p class="field"><label for="label">Metadata</label>
<input id="label" name="label" maxlength="200" value="${fields.label ?? ''}" placeholder="customer=42" autocomplete="off"></p>
${select('sort', 'Order', SORTED, fields.sort)}
</div></details>
</form>
`;
}

const dateField = (name: string, label: string, value = ''): Html =>
  html`<p class="field"><label for="${name}">${label} (UTC)</label>
<input id="${name}" name="${name}" type="date" value="${value}"></p>`;

const keyChoice = ({ id, prefix, label, revokedAt }: StoredApiKey): Choice => ({
  value: id,
  label: `${label || `${prefix}…`}${revokedAt ? ' (revoked)' : ''}`,
});
