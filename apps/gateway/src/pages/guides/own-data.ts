import { PLACEHOLDER } from '../connect/own-key.ts';
import { html } from '../html.ts';
import { type Guide, shell } from './guide.ts';

export const ownData: Guide = {
  name: 'own-data',
  title: 'Choose a preset and threshold on your own data',
  description:
    'Send rows whose right answer you know, and see what each choice would have cost and how often it would have been right.',
  content: (
    baseUrl,
  ) => html`<p>A row of a batch can contain its right answer as <code>gold</code>: the text of one of its options. Models never see it. Once rows have ended, the batch has a report.</p>
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
<li>A few hundred rows, drawn at random from the questions that you will ask later. With fewer than 100 rows there is no recommendation; 400 rows show the accuracy to within about five points.</li>
<li>A <code>confidence_threshold</code> of 1: polls then stop only when nothing can change the answer, and every other threshold can be replayed from the votes.</li>
<li>To compare presets, send the same rows once with each <code>preset</code>, also in one batch. That a cheaper one is as good takes about a thousand rows.</li>
</ul>
<h2>How to read it</h2>
<ul>
<li><code>panels[].thresholds</code>: accuracy, cost and calls saved at each threshold, with <code>difference</code> from the polls as asked. If the interval contains 0, these rows show no difference.</li>
<li><code>panels[].models</code>: each model on its own, compared with the panel on the same polls.</li>
<li><code>recommendation</code> is the conclusion, in words. The dashboard shows the same with plots, at <code>/dashboard/batches/BATCH_ID/report</code>.</li>
</ul>`,
};
