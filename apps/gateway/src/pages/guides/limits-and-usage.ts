import { PLACEHOLDER } from '../connect/own-key.ts';
import { html } from '../html.ts';
import { type Guide, shell } from './guide.ts';

export const limitsAndUsage: Guide = {
  name: 'limits-and-usage',
  title: 'Limits and usage',
  description: 'Limit what each key can spend, and see what was spent, by which key, and what stopping early saved.',
  content: (baseUrl) => html`${shell(
    `curl -sS --fail-with-body ${baseUrl}/api/usage/balance -H 'Authorization: Bearer ${PLACEHOLDER}'
curl -sS --fail-with-body '${baseUrl}/api/usage?group_by=key' -H 'Authorization: Bearer ${PLACEHOLDER}'
curl -sS --fail-with-body '${baseUrl}/api/usage?group_by=day&format=csv' -H 'Authorization: Bearer ${PLACEHOLDER}'`,
    'balance and usage',
  )}
<h2>Limits</h2>
<ul>
<li><code>POST /api/keys</code> with <code>{"label": "nightly", "limit_usd": 25, "limit_reset": "monthly"}</code>: its polls are charged at most $25 per month. <code>daily</code> starts again at midnight UTC, <code>never</code> does not.</li>
<li>Holds of running polls and batches count until these end, so parallel polls cannot overspend.</li>
<li>Beyond the limit a poll is refused: 402 <code>key_budget_reached</code>, with <code>resets_at</code>. The webhook event <code>key.limit_reached</code> is sent once per period.</li>
<li><code>PATCH /api/keys/{id}</code> changes <code>limit_usd</code>, <code>limit_reset</code>, <code>expires_at</code>, <code>read_only</code> and <code>label</code>, at once.</li>
<li>A <code>read_only</code> key reads results and usage, and neither asks nor changes anything.</li>
<li>A key that has a limit or expires makes and changes no keys and revokes only itself: 403 <code>restricted_key</code>. One that reads only does not even that: 403 <code>read_only_key</code>. Use a login or an unrestricted key.</li>
</ul>
<h2>Usage</h2>
<ul>
<li><code>group_by</code>: <code>day</code>, <code>key</code>, <code>preset</code>, <code>surface</code>, or <code>metadata.NAME</code> for a label that you send with your polls, such as <code>metadata.customer</code>.</li>
<li>A poll counts on the UTC day of its end. The sum of <code>cost_usd</code> is what was charged. Medians are within 5%. <code>previous</code> is the same for as many days before.</li>
<li><code>saved_usd</code> is an estimate: what the models that were not asked would usually have cost, in polls that stopped because the outcome was certain enough.</li>
</ul>
<h2>A low balance</h2>
<p><code>PUT /api/usage/low-balance</code> with <code>{"low_balance_usd": 5}</code>: the webhook event <code>balance.low</code> is sent once, when a charge takes the balance below it.</p>`,
};
