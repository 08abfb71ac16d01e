import { PLACEHOLDER } from '../connect/own-key.ts';
import { html } from '../html.ts';
import { type Guide, shell } from './guide.ts';

export const operating: Guide = {
  name: 'operating',
  title: 'Operating',
  description: 'What to watch when a product depends on polls: health, errors, keys, spending and what is stored.',
  content: (baseUrl) => html`${shell(
    `curl -sS --fail-with-body ${baseUrl}/api/health
curl -sS --fail-with-body ${baseUrl}/api/keys -H 'Authorization: Bearer ${PLACEHOLDER}'`,
    'health and keys',
  )}
<h2>Errors</h2>
<ul>
<li>Use <code>code</code> in programs; it is stable. <a href="/api/errors/catalog">All codes</a>. Each has a page, <code>/errors/{code}</code>, with what to do.</li>
<li>Log <code>X-Request-Id</code>; it finds the request in our logs.</li>
<li>Correct the request after 400 and 402, slow down after 429, retry later after 5xx. A poll that ran and found no votes is a result with <code>status: failed</code>.</li>
</ul>
<h2>Keys</h2>
<ul>
<li>One key per program, with a label. <code>last_used_at</code> shows which are idle.</li>
<li>To rotate: make a new one, deploy it, then <code>DELETE /api/keys/{id}</code>. A revoked key stops at once.</li>
</ul>
<h2>Spending</h2>
<ul>
<li><code>max_cost_usd</code> bounds each poll, and the balance bounds all of them. There is no debt.</li>
<li>A key can have a limit per day or month: <a href="/guides/limits-and-usage">Limits and usage</a>.</li>
<li>The tool <code>get_balance</code> reads the balance with a key; the <a href="/dashboard">dashboard</a> has the history.</li>
</ul>
<h2>Data</h2>
<p>Questions, options and votes are stored, and everyone who holds a result’s id can read it. Put no secrets and no personal data into a poll. <a href="/?view=human#terms">Data and terms</a></p>`,
};
