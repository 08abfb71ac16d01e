import { type Batch, ERRORS, type ErrorCode, type NotRunReason } from '@eloquentpoll/contracts';
import type { StoredBatchRow } from '@eloquentpoll/storage';
import { badge, notice, table } from '../../components.ts';
import { usd, whole } from '../../figures.ts';
import { type Html, html } from '../../html.ts';
import { localTime } from '../../result-parts.ts';
import { dashboardLayout } from '../dashboard-layout.ts';
import { agreement, beginning } from '../polls-table.ts';
import type { HistoryRow } from '../read-polls.ts';
import { BATCHES_PATH, batchName, rowsEnded, statusBadge } from './batches-page.ts';

/** A row with its poll; the poll is null while the row waits, if it was not run, and after it was deleted. */
export interface ShownBatchRow extends StoredBatchRow {
  poll: HistoryRow | null;
}

export interface ShownBatch {
  batch: Batch;
  close: readonly ShownBatchRow[];
  rows: readonly ShownBatchRow[];
  /** Line number of the row before the first one shown. */
  afterLine: number;
  hasMore: boolean;
}

/** A batch: its progress, then close calls, then its rows. */
export const batchPage = (baseUrl: string, view: ShownBatch): string =>
  dashboardLayout({
    baseUrl,
    path: `${BATCHES_PATH}/${view.batch.batch_id}`,
    heading: batchName(view.batch),
    aside: statusBadge(view.batch),
    scripts: ['dashboard-batch', 'local-time'],
    main: html`${progressCard(view.batch)}
<div id="close">${
      view.close.length === 0
        ? ''
        : html`<section aria-labelledby="close-title"><h2 id="close-title">Close calls</h2>
${rowTable('Close calls, newest first', view.close, view.batch)}</section>`
    }</div>
${allRows(view)}
${skipped(view.batch)}`,
  });

const WHY_NOT_RUN: Record<NotRunReason, string> = {
  canceled: 'the batch was canceled',
  expired: 'the 24 hours were over',
  uncovered: 'the rest of its limit or of the balance did not cover the next row',
};

function progressCard(batch: Batch): Html {
  const { counts, cost_usd, reserved_usd, max_cost_usd, created_at, ended_at } = batch;
  const isOpen = ended_at === null;
  return html`<section class="card" id="progress" aria-label="Progress"${isOpen ? html` data-running` : ''}>
<p class="batch-progress">${whole(rowsEnded(batch))} of ${whole(counts.total)} rows have ended</p>
${countsBar(batch)}
<dl class="figures">
<div><dt>${isOpen ? 'Cost so far' : 'Cost'}</dt><dd>${usd(cost_usd)}</dd></div>
${isOpen ? html`<div><dt>Reserved</dt><dd>${usd(reserved_usd)}</dd></div>` : ''}
${max_cost_usd === null ? '' : html`<div><dt>Limit</dt><dd>${usd(max_cost_usd)}</dd></div>`}
<div><dt>Started</dt><dd>${localTime(created_at, 'short')}</dd></div>
${ended_at === null ? '' : html`<div><dt>Ended</dt><dd>${localTime(ended_at, 'short')}</dd></div>`}
</dl>
${counts.not_run > 0 && batch.not_run_reason !== null ? html`<p class="muted">${whole(counts.not_run)} ${counts.not_run === 1 ? 'row was' : 'rows were'} not run: ${WHY_NOT_RUN[batch.not_run_reason]}.</p>` : ''}
<div class="row">
<a class="button secondary small" href="/api/batches/${batch.batch_id}/results?format=csv">Results as CSV</a>
<a class="button secondary small" href="/api/batches/${batch.batch_id}/results?format=jsonl">as JSON Lines</a>
${batch.report_url && !isOpen ? html`<a class="button small" href="${BATCHES_PATH}/${batch.batch_id}/report">Report</a>` : ''}
${batch.status === 'running' ? html`<form method="post" action="${BATCHES_PATH}/${batch.batch_id}/cancel"><button class="button danger small">Cancel</button></form>` : ''}
${isOpen ? '' : html`<form method="post" action="${BATCHES_PATH}/${batch.batch_id}/delete"><details class="inline-ask"><summary class="button danger small">Delete</summary><button class="button danger small">Delete it with its results</button></details></form>`}
</div>
</section>
`;
}

const PARTS = [
  { name: 'success', label: 'answered', part: 'good' },
  { name: 'partial', label: 'partial', part: 'warn' },
  { name: 'failed', label: 'without an answer', part: 'bad' },
  { name: 'canceled', label: 'canceled', part: 'quiet' },
  { name: 'not_run', label: 'not run', part: 'quiet' },
  { name: 'running', label: 'running', part: 'accent' },
  { name: 'waiting', label: 'waiting', part: 'none' },
] as const;

/** All rows in one bar, by outcome. */
function countsBar({ counts }: Batch): Html {
  let from = 0;
  const total = Math.max(1, counts.total);
  const shown = PARTS.filter(({ name }) => counts[name] > 0);
  return html`<svg class="bar counts" role="img" aria-label="${shown.map(({ name, label }) => `${whole(counts[name])} ${label}`).join(', ')}">${shown.map(
    ({ name, part }) => {
      const width = (100 * counts[name]) / total;
      from += width;
      return html`<rect class="part-${part}" x="${(from - width).toFixed(2)}%" width="${width.toFixed(2)}%" height="100%"/>`;
    },
  )}</svg>
<p class="legend small">${shown.map(({ name, label, part }) => html`<span class="part-${part}"><span class="swatch"></span>${whole(counts[name])} ${label}</span> `)}</p>`;
}

const PAGE_NOTE = 'Rows in the order of the upload';

function allRows({ batch, rows, afterLine, hasMore }: ShownBatch): Html {
  const path = `${BATCHES_PATH}/${batch.batch_id}`;
  return html`<section id="rows" aria-labelledby="rows-title"><h2 id="rows-title">Rows</h2>
${rows.length === 0 ? html`<p class="muted">No rows here. <a href="${path}">Back to the first</a></p>` : rowTable(PAGE_NOTE, rows, batch)}
${
  afterLine > 0 || hasMore
    ? html`<nav class="pager" aria-label="Pages of rows"><span>${afterLine > 0 ? html`<a rel="prev" href="${path}#rows">First rows</a>` : ''}</span><span>${hasMore ? html`<a rel="next" href="${path}?line=${rows.at(-1)!.line}#rows">Next rows</a>` : ''}</span></nav>`
    : ''
}</section>
`;
}

const rowTable = (label: string, rows: readonly ShownBatchRow[], batch: Batch): Html =>
  table(
    label,
    html`<tr><th scope="col">Row</th><th scope="col">Question</th><th scope="col">Winner</th><th scope="col" class="wide-only">Agreement</th>${batch.has_gold ? html`<th scope="col">Right</th>` : ''}<th scope="col" class="number wide-only">Cost</th></tr>`,
    rows.map(
      (row) => html`<tr>
<th scope="row" class="row-id">${row.customId === String(row.line) ? `line ${row.line}` : html`<bdi>${row.customId}</bdi>`}</th>
<td class="about">${questionOf(row)}</td>
<td class="winner">${winnerOf(row)}${row.poll ? html`<span class="narrow-only small">${agreement(row.poll)}</span>` : ''}</td>
<td class="agreement wide-only">${stateOf(row, batch)}</td>
${batch.has_gold ? html`<td>${rightOf(row)}</td>` : ''}
<td class="number wide-only">${row.poll?.costU == null ? '–' : usd(Number(row.poll.costU) / 1_000_000)}</td>
</tr>
`,
    ),
  );

function questionOf({ question, poll }: ShownBatchRow): Html {
  const text = html`<span dir="auto">${beginning(question ?? 'Deleted')}</span>`;
  return poll && (poll.resultId !== null || poll.status === 'running')
    ? html`<a href="/result/${poll.outcome.resultId}">${text}</a>`
    : text;
}

const winnerOf = ({ poll }: ShownBatchRow): Html =>
  html`<span dir="auto">${poll?.winningOption ?? (poll?.isTie ? 'Tie' : '–')}</span>`;

function stateOf({ poll, outcome, error }: ShownBatchRow, { ended_at }: Batch): Html {
  if (poll) return agreement(poll);
  if (error !== null) return html`<span class="field-error">${ERRORS[error as ErrorCode]?.description ?? error}</span>`;
  if (outcome !== null) return badge('Canceled', 'warn');
  return html`<span class="muted">${ended_at === null ? 'waiting' : 'not run'}</span>`;
}

function rightOf({ gold, poll }: ShownBatchRow): Html {
  if (gold === null || poll?.winningOption == null) return html`<span class="muted">–</span>`;
  return poll.winningOption === gold
    ? badge('Right', 'good')
    : html`${badge('Wrong', 'bad')} <span class="muted small" dir="auto">${gold}</span>`;
}

const skipped = ({ skipped: { count, first } }: Batch): Html =>
  count === 0
    ? html``
    : html`<section aria-labelledby="skipped-title"><h2 id="skipped-title">Left out</h2>
${notice(html`<p>${whole(count)} invalid ${count === 1 ? 'row was' : 'rows were'} left out.</p>`, 'warn')}
${table(
  'Rows that were left out',
  html`<tr><th scope="col" class="number">Line</th><th scope="col">Field</th><th scope="col">What is wrong</th></tr>`,
  first.map(
    ({
      line,
      field,
      message,
    }) => html`<tr><th scope="row" class="number">${whole(line)}</th><td class="mono">${field ?? '–'}</td><td><span dir="auto">${message}</span></td></tr>
`,
  ),
)}</section>
`;
