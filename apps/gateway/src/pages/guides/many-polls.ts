import { PLACEHOLDER } from '../connect/own-key.ts';
import { html } from '../html.ts';
import { type Guide, shell } from './guide.ts';

export const manyPolls: Guide = {
  name: 'many-polls',
  title: 'Many polls',
  description: 'Start polls side by side, fetch their results later, and retry without paying twice.',
  content: (
    baseUrl,
  ) => html`<p>A session is a poll that runs in the background. Start as many as the limits allow, then wait for each in one request.</p>
${shell(
  `KEY=${PLACEHOLDER}
ID=$(curl -sS --fail-with-body ${baseUrl}/api/polls \\
  -H "Authorization: Bearer $KEY" -H 'Content-Type: application/json' \\
  -H "Idempotency-Key: row-17-$(date +%s)" \\
  -d '{"question": "Is this review positive? Great value!", "options": ["yes", "no"]}' |
  sed 's/.*"session_id":"\\([^"]*\\)".*/\\1/')
curl -sS --fail-with-body "${baseUrl}/api/polls/$ID/status" -H "Authorization: Bearer $KEY" -H 'Prefer: wait=30'
curl -sS --fail-with-body "${baseUrl}/api/polls/$ID/result" -H "Authorization: Bearer $KEY"`,
  'a session',
)}
<h2>Retries</h2>
<ul>
<li>Give each poll an <code>Idempotency-Key</code> made from its row, not from the clock. The same key and body at the same address join that poll and are charged once.</li>
<li>Retry 429, 502, 503, 504 and broken connections: after <code>Retry-After</code> seconds where it is sent, else with a growing, random wait. With <code>Accept: application/problem+json</code> an error says so too, in <code>retryable</code>.</li>
<li>Slow down before that, by <code>RateLimit-Remaining</code> and <code>RateLimit-Reset</code>; the clients for <a href="/eloquentpoll.ts">TypeScript</a> and <a href="/eloquentpoll.py">Python</a> do.</li>
</ul>
<h2>A file of polls</h2>
<p>For polls that are not urgent, one request is enough: send JSON lines or CSV to <code>POST ${baseUrl}/api/batches</code>, with
<code>custom_id</code>, <code>question</code> and <code>options</code> in each row. Every row is checked before any runs. They cost less, run when no standard poll waits, and end within 24 hours. <code>GET /api/batches/{id}/results</code> has the answers so far.</p>
<h2>Cost</h2>
<p>A poll reserves what its whole panel can cost (<code>cost_usd.max</code> of the estimate), at most <code>max_cost_usd</code>. A limit near the <a href="/pricing">expected price</a> ends polls early.
Too small a balance is a 402, and nothing runs. <a href="/guides/own-data">Your own data</a> show the best preset and threshold.</p>`,
};
