import { type Html, html } from '../html.ts';
import { pollsTable } from './polls-table.ts';
import type { HistoryRow } from './read-polls.ts';

/** The newest polls, with a link to the page of all polls. */
export const recentSection = (
  lines: readonly HistoryRow[],
): Html => html`<section id="history" aria-labelledby="history-title">
<div class="row spread section-head"><h2 id="history-title">Recent polls</h2>${lines.length === 0 ? '' : html`<a href="/dashboard/polls">All polls</a>`}</div>
${lines.length === 0 ? html`<p class="muted">No polls yet.</p>` : pollsTable('Recent polls, newest first', lines)}
</section>
`;
