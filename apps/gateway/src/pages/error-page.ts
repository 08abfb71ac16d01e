import type { ErrorEntry } from '@eloquentpoll/contracts';
import type { SiteFacts } from '../discovery/documents/facts.ts';
import { runsFreePolls } from '../polls/order/runs-free-polls.ts';
import { badge } from './components.ts';
import { type Html, html } from './html.ts';
import { layout } from './layout.ts';

/** An entry of the error catalogue as a page. */
export const errorPage = (facts: SiteFacts, entry: ErrorEntry): string => {
  const { code, status, title, description, recovery, retryable, endpoints } = entry;
  return layout({
    baseUrl: facts.baseUrl,
    path: `/errors/${code}`,
    title: `${title} (${status}) · EloquentPoll`,
    description,
    offersFreePolls: runsFreePolls(facts),
    main: html`<p class="eyebrow row">${badge(`HTTP ${status}`)} ${retryable ? badge('Retryable', 'good') : badge('Fix the request first', 'warn')}</p>
<h1>${title}</h1>
<p class="lead">${description}</p>
<p class="muted">As the <code>code</code> of an error: <code>${code}</code></p>
<section class="card prose"><h2>What to do</h2>
<ul>
${adviceOn(entry).map((line) => html`<li>${line}</li>\n`)}${recovery.map((step) => html`<li>${stepText(step)}</li>\n`)}</ul></section>
${returnedBy(endpoints)}
<p><a href="/api/errors/catalog">All errors</a></p>`,
  });
};

/** Advice beyond the catalogue's steps: how to find the mistake, and whether to retry. */
function adviceOn({ code, status, retryable }: ErrorEntry): string[] {
  if (code === 'rate_limited')
    return [
      'Wait as many seconds as the Retry-After header says; RateLimit-Reset says when the window ends.',
      'Send fewer requests: one with “Prefer: wait=30” replaces many that poll for a status, and one stream replaces them all.',
    ];
  if (code === 'deposit_in_progress')
    return [
      'Send the same request with the same payment again; it is credited only once. Do not sign another payment, and do not send an Idempotency-Key, because deposits refuse it.',
    ];
  if (retryable)
    return [
      'Send the same request again, with the same Idempotency-Key if the operation supports it: no second poll is created, and nothing is charged twice.',
    ];
  if (status === 400)
    return [
      'Read “error” in the response: it names each wrong field and what would be right. As application/problem+json, “errors” lists each field with a pointer.',
      'To check a poll without running it, use POST /api/poll/dry-run.',
    ];
  if (code === 'payment_already_used')
    return ['The payment was already credited to the balance. Sign another one only to pay again.'];
  if (code.startsWith('payment_'))
    return [
      'Read “accepts” in the response: sign a payment with exactly these terms, and send it with the same request.',
    ];
  if (status === 402) return ['Lower the maximum cost: a lower max_cost_usd, fewer options or the fast panel.'];
  if (status === 404)
    return ['Check that the id is complete: ids are long, and the end is easily lost when they are copied.'];
  return [];
}

const stepText = ({ description, method, url }: ErrorEntry['recovery'][number]): Html =>
  url?.endsWith('/api/docs')
    ? html`<a href="/api/docs">Read about this operation in the API reference.</a>`
    : html`${description}${url ? html` <code>${method ?? 'GET'} ${url}</code>` : ''}`;

const MAX_LISTED = 8;

/** If nearly every operation can return the error, the page says so instead of listing them. */
function returnedBy(endpoints: readonly string[]): Html {
  const list = html`<ul class="plain columns">
${endpoints.map((endpoint) => html`<li><code>${endpoint}</code></li>\n`)}</ul>`;
  if (endpoints.length === 0) return html``;
  return html`<section><h2>Returned by</h2>
${endpoints.length <= MAX_LISTED ? list : html`<details><summary>${endpoints.length} operations</summary>${list}</details>`}</section>`;
}
