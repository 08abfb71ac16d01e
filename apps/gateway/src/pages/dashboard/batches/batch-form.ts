import { type BatchTerms, LIMITS, PRESETS } from '@eloquentpoll/contracts';
import { whole } from '../../figures.ts';
import { select } from '../../form-parts.ts';
import { type Html, html } from '../../html.ts';
import { type BatchFormVerdict, batchCheck } from './batch-check.ts';

export interface BatchForm {
  /** Idempotency key of the form, so that a second click does not start a second batch. */
  key: string;
  /** Pasted rows. */
  pasted: string;
  terms: BatchTerms;
  /** The outcome of a check, or why the batch was refused. */
  verdict: BatchFormVerdict | null;
}

const EXAMPLE = `question,options,gold
Which is larger?,The Sun | The Moon,The Sun
Is 91 a prime number?,Yes | No,No`;

/** A form that takes rows as a file or as text. `Check` stores nothing; scripts press it after every change. */
export const batchForm = (
  path: string,
  { key, pasted, terms, verdict }: BatchForm,
): Html => html`<section class="card" id="new-batch" aria-labelledby="new-batch-title">
<h2 id="new-batch-title">New batch</h2>
<p class="muted">Up to ${whole(LIMITS.batch.rows)} polls at once, at a lower price: they run only when no standard poll waits, and end within 24 hours.</p>
<form class="stack" method="post" enctype="multipart/form-data" action="${path}?form=${key}" data-batch>
<div class="terms">
<p class="field"><label for="name">Name (optional)</label>
<input id="name" name="metadata[name]" maxlength="80" value="${terms.metadata?.name ?? ''}" autocomplete="off" dir="auto"></p>
${select(
  'preset',
  'Panel',
  PRESETS.map((preset) => ({ value: preset, label: preset })),
  terms.preset ?? 'broad',
)}
<p class="field"><label for="threshold">Confidence threshold</label>
<input id="threshold" name="confidence_threshold" type="number" min="0" max="1" step="0.01" value="${terms.confidence_threshold ?? LIMITS.confidence_threshold.default}"></p>
<p class="field"><label for="most">Limit for the whole batch ($)</label>
<input id="most" name="max_cost_usd" type="number" min="0.0001" step="any" value="${terms.max_cost_usd ?? ''}" placeholder="what its rows may cost"></p>
</div>
<p class="hint">Panel and threshold apply to rows that do not set their own.</p>
<p class="field check"><label><input type="checkbox" name="skip_invalid"${terms.skip_invalid ? html` checked` : ''}> Skip invalid rows instead of refusing the batch</label></p>
<p class="field"><label for="rows">Rows, as CSV or JSON Lines</label>
<textarea id="rows" name="rows" rows="6" spellcheck="false" class="mono" dir="auto" placeholder="${EXAMPLE}" aria-describedby="rows-hint">${pasted}</textarea>
<span class="hint" id="rows-hint">CSV with the columns <code>question</code> and <code>options</code> (with <code>|</code> between them), and any of <code>custom_id</code>, <code>gold</code>, <code>preset</code>, <code>metadata.NAME</code>; or a JSON object per line. With <code>gold</code>, the right answer, the batch ends with a report.</span></p>
<p class="field drop" data-drop><label for="file">Or a file (.csv or .jsonl)</label>
<input id="file" name="file" type="file" accept=".csv,.jsonl,.ndjson,text/csv,application/jsonl"></p>
<div id="check" aria-live="polite">${verdict ? batchCheck(verdict, terms) : ''}</div>
<p class="row"><button class="button" data-start>Start batch</button>
<button class="button secondary" formaction="${path}/check" data-check>Check and estimate</button></p>
</form>
</section>
`;
