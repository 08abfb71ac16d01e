import { type Html, html } from '../html.ts';
import { localTime } from '../result-parts.ts';
import { dashboardLayout } from './dashboard-layout.ts';
import { POLLS_PATH } from './polls-page.ts';
import { beginning } from './polls-table.ts';
import type { HistoryRow } from './read-polls.ts';

export const DELETE_PATH = `${POLLS_PATH}/delete`;

/** Asks for confirmation, because deleting polls cannot be undone. */
export function deletePollsPage(baseUrl: string, rows: readonly HistoryRow[]): string {
  const ended = rows.filter(({ status }) => status !== 'running');
  return dashboardLayout({
    baseUrl,
    path: DELETE_PATH,
    heading: rows.length === 0 ? 'Delete polls' : ended.length === 1 ? 'Delete this poll?' : 'Delete these polls?',
    scripts: ['local-time'],
    main: html`${rows.length === 0 ? html`<p class="lead">Check the polls to delete in the history first.</p>` : ''}
${ended.length < rows.length ? html`<p>Running polls are not deleted; cancel them first.</p>` : ''}
${ended.length === 0 ? html`<p><a class="button secondary" href="${POLLS_PATH}">To the history</a></p>` : question(ended)}`,
  });
}

const question = (
  rows: readonly HistoryRow[],
): Html => html`<p class="lead">${rows.length === 1 ? 'Its question, options, reasons, metadata, feedback and receipt are' : `Questions, options, reasons, metadata, feedback and receipts of ${rows.length} polls are`} deleted at once. Links to ${rows.length === 1 ? 'its result' : 'their results'} stop working. This cannot be undone.</p>
<p class="muted">The amount that was charged stays in the ledger.</p>
<form class="stack" method="post" action="${DELETE_PATH}">
<ul class="plain">
${rows.map(({ pollId, question, createdAt }) => html`<li><input type="hidden" name="id" value="${pollId}"><strong dir="auto">${beginning(question)}</strong> <span class="muted small">${localTime(createdAt.toISOString(), 'short')}</span></li>\n`)}</ul>
<p class="row"><button class="button danger">${rows.length === 1 ? 'Delete' : `Delete ${rows.length} polls`}</button>
<a class="button secondary" href="${POLLS_PATH}">Keep ${rows.length === 1 ? 'it' : 'them'}</a></p>
</form>`;
