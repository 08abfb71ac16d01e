import type { BatchRowError, BatchTerms } from '@eloquentpoll/contracts';
import type { CheckedBatch } from '../../../batches/upload/check-batch.ts';
import { notice, table } from '../../components.ts';
import { usd, usdDown, whole } from '../../figures.ts';
import { type Html, html } from '../../html.ts';

export type BatchFormVerdict =
  | { kind: 'checked'; found: CheckedBatch; availableU: bigint; isFile: boolean }
  | { kind: 'invalid'; errors: readonly BatchRowError[]; errorCount: number }
  | { kind: 'unpaid'; requiredUsd: number; availableUsd: number }
  | { kind: 'refused'; problem: string };

/** The estimated cost of a batch, or the errors that keep it from starting. */
export function batchCheck(verdict: BatchFormVerdict, terms: BatchTerms): Html {
  switch (verdict.kind) {
    case 'checked':
      return checked(verdict, terms);
    case 'invalid':
      return invalid(verdict.errors, verdict.errorCount);
    case 'unpaid':
      return unpaid(verdict.requiredUsd, verdict.availableUsd);
    case 'refused':
      return notice(html`<p role="alert">${verdict.problem}</p>`, 'bad');
  }
}

function checked(
  { found, availableU, isFile }: Extract<BatchFormVerdict, { kind: 'checked' }>,
  { max_cost_usd: limitUsd, skip_invalid: skips }: BatchTerms,
): Html {
  if (found.rows === 0 && found.errorCount === 0)
    return notice(html`<p role="alert">There are no rows yet.</p>`, 'warn');
  const errors = found.errorCount > 0 ? invalid(found.errors, found.errorCount, skips) : html``;
  if (found.rows === 0 || (found.errorCount > 0 && !skips)) return errors;
  const worstUsd = Number(found.worstU) / 1_000_000;
  const reservedUsd = limitUsd === undefined ? worstUsd : Math.min(limitUsd, worstUsd);
  const availableUsd = Number(availableU) / 1_000_000;
  return html`${errors}<dl class="figures">
<div><dt>Rows</dt><dd>${whole(found.rows)}</dd></div>
<div><dt>Expected</dt><dd>about ${usd(Math.min(found.expectedUsd, reservedUsd))}</dd></div>
<div><dt>At most</dt><dd>${usd(reservedUsd)}</dd></div>
<div><dt>Balance</dt><dd>${usd(availableUsd)}</dd></div>
</dl>
${reservedUsd > availableUsd ? unpaid(reservedUsd, availableUsd) : html`<p class="muted small">${usd(reservedUsd)} is reserved at the start; the unused part is returned.${limitUsd !== undefined && limitUsd < found.expectedUsd ? ' This limit will probably end the batch before its last row.' : ''}${isFile ? html`<span data-without-script> Choose the file again to start it.</span>` : ''}</p>`}`;
}

function invalid(errors: readonly BatchRowError[], count: number, skips = false): Html {
  return html`${notice(
    html`<p role="alert"><strong>${whole(count)} ${count === 1 ? 'error' : 'errors'} in the rows.</strong> ${skips ? 'These rows are left out.' : 'Nothing was started, and nothing is charged.'}${count > errors.length ? ` The first ${errors.length}:` : ''}</p>`,
    skips ? 'warn' : 'bad',
  )}
${table(
  'Errors in the rows',
  html`<tr><th scope="col" class="number">Line</th><th scope="col" class="wide-only">Row</th><th scope="col">Field</th><th scope="col">What is wrong</th></tr>`,
  errors.map(
    ({
      line,
      custom_id,
      field,
      message,
    }) => html`<tr><th scope="row" class="number">${whole(line)}</th><td class="wide-only"><bdi>${custom_id ?? '–'}</bdi></td><td class="mono">${field ?? '–'}</td><td><span dir="auto">${message}</span></td></tr>
`,
  ),
)}`;
}

const unpaid = (requiredUsd: number, availableUsd: number): Html =>
  notice(
    html`<p role="alert"><strong>Not enough balance.</strong> This batch may cost up to ${usd(requiredUsd)}, and ${usdDown(Math.max(0, availableUsd))} is available. <a href="/dashboard#funds">Add funds</a>${availableUsd > 0 ? html`, or set a limit of ${usdDown(availableUsd)} or less: it runs as far as that goes` : ''}.</p>`,
    'warn',
  );
