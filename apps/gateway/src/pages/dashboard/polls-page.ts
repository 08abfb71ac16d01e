import type { StoredApiKey } from '@eloquentpoll/storage';
import { whole } from '../figures.ts';
import { type Html, html } from '../html.ts';
import { localTime } from '../result-parts.ts';
import { dashboardLayout } from './dashboard-layout.ts';
import { CUT_NAME, MAX_EXPORTED, MAX_LOOKED_THROUGH } from './polls-export.ts';
import { type PollsFilter, pollsAddress } from './polls-filter.ts';
import { pollsForm } from './polls-form.ts';
import { pollsTable } from './polls-table.ts';
import type { PollsView } from './read-polls.ts';
import { runningSection } from './running-section.ts';

export const POLLS_PATH = '/dashboard/polls';

/** The account's polls; filter and position are in the address. */
export const pollsPage = (
  baseUrl: string,
  shown: PollsFilter,
  view: PollsView,
  keys: readonly StoredApiKey[],
): string =>
  dashboardLayout({
    baseUrl,
    path: POLLS_PATH,
    heading: 'Polls',
    scripts: ['dashboard-polls'],
    main: html`${runningSection(view.running)}
${pollsForm(POLLS_PATH, shown, keys)}
<section id="history" aria-label="Ended polls">
${view.rows.length === 0 ? nothingFound(shown, view) : exportForm(shown, view)}
${scope(shown, view)}${pager(shown, view)}</section>`,
  });

function nothingFound({ fields, after, before }: PollsFilter, { running }: PollsView): Html {
  if (after ?? before)
    return html`<p class="muted">No polls here. <a href="${pollsAddress(POLLS_PATH, fields)}">Back to the start</a></p>`;
  if (Object.keys(fields).length > 0)
    return html`<p class="muted">No poll matches. <a href="${POLLS_PATH}">Show all polls</a></p>`;
  return html`<p class="muted">${running.length > 0 ? 'No poll has ended yet.' : html`No polls yet. <a href="/dashboard#run">Run your first one</a>.`}</p>`;
}

const exportForm = ({ fields }: PollsFilter, { rows }: PollsView): Html => html`<form action="${POLLS_PATH}/export">
${Object.entries(fields).map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}">\n`)}
${pollsTable('Ended polls', rows, { isChosen: true })}
<p class="row small export"><span class="muted">Export the checked polls, or all that match (at most ${whole(MAX_EXPORTED)}, looking through at most ${whole(MAX_LOOKED_THROUGH)}; a file that stops there is called ${CUT_NAME}):</span>
<button class="button secondary small" name="format" value="csv">CSV</button>
<button class="button secondary small" name="format" value="jsonl">JSON Lines</button>
<button class="button danger small" formaction="${POLLS_PATH}/delete">Delete the checked</button></p>
</form>`;

/** A page reads a bounded number of polls, even if few match; this says how far it looked. */
function scope({ fields, isOldestFirst }: PollsFilter, { rows, looked, after, before }: PollsView): Html {
  if (looked.until === null || looked.polls <= rows.length + 1 || Object.keys(fields).length === 0) return html``;
  const further = after !== null && rows.length === 0;
  return html`<p class="muted small">Looked through ${whole(looked.polls)} ${looked.polls === 1 ? 'poll' : 'polls'}${before === null ? '' : ' from here'}, ${isOldestFirst ? 'up' : 'back'} to ${localTime(looked.until.toISOString())}.${further ? html` <a href="${pollsAddress(POLLS_PATH, fields, { after })}">Look further</a>` : ''}</p>
`;
}

function pager({ fields, isOldestFirst }: PollsFilter, { rows, after, before }: PollsView): Html {
  if (after === null && before === null) return html``;
  const [back, on] = isOldestFirst ? ['Older', 'Newer'] : ['Newer', 'Older'];
  const link = (rel: string, name: string, position: Record<string, string>) =>
    html`<a rel="${rel}" href="${pollsAddress(POLLS_PATH, fields, position)}">${name}</a>`;
  return html`<nav class="pager" aria-label="Pages of the history">
<span>${before === null ? '' : link('prev', back, { before })}</span>
<span>${after === null || rows.length === 0 ? '' : link('next', on, { after })}</span>
</nav>
`;
}
