import { PLACEHOLDER } from '../connect/own-key.ts';
import { html } from '../html.ts';
import { type Guide, shell } from './guide.ts';

export const streaming: Guide = {
  name: 'streaming',
  title: 'Streaming and resuming',
  description: 'Show votes as they arrive, and continue after a broken connection without a second poll.',
  content: (baseUrl) => html`${shell(
    `curl -sSN --fail-with-body ${baseUrl}/api/poll/stream \\
  -H 'Authorization: Bearer ${PLACEHOLDER}' \\
  -H 'Content-Type: application/json' \\
  -H "Idempotency-Key: stream-$(date +%s)" \\
  -d '{"question": "Which city is farthest north?", "options": ["Vancouver", "Paris", "London"]}'`,
    'a stream',
  )}
<table>
<thead><tr><th scope="col">Event</th><th scope="col">When</th></tr></thead>
<tbody>
<tr><th scope="row"><code>started</code></th><td>At once, and with each vote: <code>tally</code>, <code>leader</code>, <code>chances</code>, the <code>vote</code>. Each has the complete state, so missing one does no harm.</td></tr>
<tr><th scope="row"><code>complete</code></th><td>Once, as the last event: the complete result.</td></tr>
<tr><th scope="row"><code>error</code></th><td>Instead of <code>complete</code>, if the poll could not run.</td></tr>
</tbody>
</table>
<h2>Resuming</h2>
<ul>
<li>Send the same request again with <code>Last-Event-ID</code> set to the last <code>id</code> you read, and the same <code>Idempotency-Key</code>. It is the same poll and costs nothing more.</li>
<li>Drop events whose <code>seq</code> is not above the last one’s.</li>
<li>The poll continues if you disconnect. A <code>session_id</code> as <code>Last-Event-ID</code> follows any poll of yours.</li>
<li>A line that begins with a colon is a keep-alive, sent every 15 seconds. Silence for 45 seconds is a broken connection.</li>
<li>204 means that you have seen the end.</li>
</ul>
<p>Both clients do all of this: <a href="/eloquentpoll.ts">eloquentpoll.ts</a>, <a href="/eloquentpoll.py">eloquentpoll.py</a>.</p>`,
};
