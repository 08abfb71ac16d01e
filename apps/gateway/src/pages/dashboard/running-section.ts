import { table } from '../components.ts';
import { type Html, html } from '../html.ts';
import { localTime } from '../result-parts.ts';
import { beginning } from './polls-table.ts';
import type { HistoryRow } from './read-polls.ts';

/** Running polls with their progress. A script refreshes the section until none is left. */
export const runningSection = (rows: readonly HistoryRow[]): Html =>
  html`<div id="running">${
    rows.length === 0
      ? ''
      : html`<section class="card running" aria-labelledby="running-title">
<h2 id="running-title">Running</h2>
${table(
  'Running polls',
  html`<tr><th scope="col">Question</th><th scope="col">Votes</th><th scope="col" class="wide-only">Started</th><th scope="col"><span class="hidden-text">Action</span></th></tr>`,
  rows.map(
    (row) => html`<tr>
<th scope="row" class="about"><a href="/result/${row.outcome.resultId}"><span dir="auto">${beginning(row.question)}</span></a></th>
<td class="progress">${progressOf(row)}</td>
<td class="when wide-only">${localTime(row.createdAt.toISOString(), 'short')}</td>
<td class="number"><form method="post" action="/dashboard/polls/${row.pollId}/cancel"><button class="button secondary small">Cancel<span class="hidden-text">: ${beginning(row.question)}</span></button></form></td>
</tr>
`,
  ),
)}
<p class="hint">After a cancellation, no further model is asked. Votes received by then count and are charged.</p>
</section>`
  }</div>`;

function progressOf({ progress, outcome: { panelSize } }: HistoryRow): Html {
  if (!progress) return html`<span class="muted">waiting</span>`;
  const share = (100 * progress.received) / Math.max(1, panelSize);
  return html`${progress.received} of ${panelSize}<svg class="bar accent" aria-hidden="true"><rect width="${share.toFixed(1)}%" height="100%"/></svg>`;
}
