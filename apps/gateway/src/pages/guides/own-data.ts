import { PLACEHOLDER } from '../connect/own-key.ts';
import { html } from '../html.ts';
import { type Guide, shell } from './guide.ts';

export const ownData: Guide = {
  name: 'own-data',
  title: 'Choose a preset and threshold on your own data',
  description:
    'Send rows whose right answer you know, and read what each choice would have cost and how often it would have been right.',
  content: (
    baseUrl,
  ) => html`<p>A row of a batch may say its right answer as <code>gold</code>: the text of one of its options. Models never see it. Once the batch has rows that ended, it has a report.</p>
${shell(
  `KEY=${PLACEHOLDER}
BATCH=$(curl -sS --fail-with-body '${baseUrl}/api/batches?confidence_threshold=1' \\
  -H "Authorization: Bearer $KEY" -H 'Content-Type: application/jsonl' --data-binary @- <<'ROWS' |
{"custom_id": "1", "question": "Is this review positive? Great value!", "options": ["yes", "no"], "gold": "yes"}
{"custom_id": "2", "question": "Is this review positive? It broke.", "options": ["yes", "no"], "gold": "no"}
ROWS
  sed 's/.*"batch_id":"\\([^"]*\\)".*/\\1/')
curl -sS --fail-with-body "${baseUrl}/api/batches/$BATCH" -H "Authorization: Bearer $KEY" -H 'Prefer: wait=5'
curl -sS --fail-with-body "${baseUrl}/api/batches/$BATCH/report" -H "Authorization: Bearer $KEY"`,
  'a batch with right answers',
)}
<h2>What to send</h2>
<ul>
<li>Some hundred rows, drawn at random from what you will ask later. Fewer than 100 recommend nothing; 400 give an accuracy to about five points.</li>
<li>A <code>confidence_threshold</code> of 1: polls then stop only when nothing can change the answer, and every other threshold can be replayed from their votes.</li>
<li>To compare presets, send the same rows once for each, with another <code>preset</code>; one batch may have them all.</li>
</ul>
<h2>How to read it</h2>
<ul>
<li><code>panels[].thresholds</code>: accuracy, cost and calls saved at each threshold, with <code>difference</code> from the polls as asked. An interval on both sides of 0 means that these rows show no difference.</li>
<li><code>panels[].models</code>: each model alone, beside the panel on the same polls.</li>
<li><code>recommendation</code> is what follows, in words. The dashboard shows the same with plots, at <code>/dashboard/batches/BATCH_ID/report</code>.</li>
</ul>`,
};
