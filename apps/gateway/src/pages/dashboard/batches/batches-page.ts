import type { Batch } from '@eloquentpoll/contracts';
import { badge, type Tone, table } from '../../components.ts';
import { usd, whole } from '../../figures.ts';
import { type Html, html } from '../../html.ts';
import { localTime } from '../../result-parts.ts';
import { dashboardLayout } from '../dashboard-layout.ts';
import { type BatchForm, batchForm } from './batch-form.ts';

export const BATCHES_PATH = '/dashboard/batches';

export interface BatchesShown {
  batches: readonly Batch[];
  after: string | null;
  before: string | null;
  form: BatchForm;
}

/** The account's batches, newest first, and the form for a new one. */
export const batchesPage = (baseUrl: string, shown: BatchesShown): string =>
  dashboardLayout({
    baseUrl,
    path: BATCHES_PATH,
    heading: 'Batches',
    scripts: ['dashboard-batches', 'local-time'],
    main: html`${shown.batches.length === 0 ? '' : batchTable(shown.batches)}
${pager(shown)}${batchForm(BATCHES_PATH, shown.form)}`,
  });

const batchTable = (batches: readonly Batch[]): Html =>
  table(
    'Batches, newest first',
    html`<tr><th scope="col">Batch</th><th scope="col">Status</th><th scope="col" class="wide-only">Started</th><th scope="col">Rows</th><th scope="col" class="number wide-only">Cost</th></tr>`,
    batches.map(
      (batch) => html`<tr>
<th scope="row" class="about"><a href="${BATCHES_PATH}/${batch.batch_id}"><span dir="auto">${batchName(batch)}</span></a></th>
<td>${statusBadge(batch)}</td>
<td class="when wide-only">${localTime(batch.created_at, 'short')}</td>
<td class="progress">${progressOf(batch)}<span class="narrow-only muted small">${usd(batch.cost_usd)}</span></td>
<td class="number wide-only">${usd(batch.cost_usd)}</td>
</tr>
`,
    ),
  );

/** The name from the form, or else the start of the id. */
export const batchName = ({ metadata, batch_id }: Batch): string => metadata.name || `${batch_id.slice(0, 9)}…`;

const TONES: Record<Batch['status'], Tone> = {
  running: 'accent',
  canceling: 'warn',
  completed: 'neutral',
  canceled: 'warn',
  expired: 'bad',
};

export const statusBadge = ({ status }: Pick<Batch, 'status'>): Html =>
  badge(`${status[0]!.toUpperCase()}${status.slice(1)}`, TONES[status]);

/** Number of rows that have ended. */
export const rowsEnded = ({ counts: { total, waiting, running } }: Batch): number => total - waiting - running;

export function progressOf(batch: Batch): Html {
  const { total } = batch.counts;
  const share = (100 * rowsEnded(batch)) / Math.max(1, total);
  return html`${whole(rowsEnded(batch))} of ${whole(total)}<svg class="bar accent" aria-hidden="true"><rect width="${share.toFixed(1)}%" height="100%"/></svg>`;
}

function pager({ after, before }: BatchesShown): Html {
  if (after === null && before === null) return html``;
  return html`<nav class="pager" aria-label="Pages of batches">
<span>${before === null ? '' : html`<a rel="prev" href="${BATCHES_PATH}?before=${before}">Newer</a>`}</span>
<span>${after === null ? '' : html`<a rel="next" href="${BATCHES_PATH}?after=${after}">Older</a>`}</span>
</nav>
`;
}
