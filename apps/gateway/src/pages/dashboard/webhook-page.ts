import { ACCOUNT_ENDPOINT, type WebhookAttempt } from '@eloquentpoll/contracts';
import type { StoredDelivery, StoredWebhookEndpoint } from '@eloquentpoll/storage';
import { nameOfSecret } from '../../accounts/webhooks/change-endpoints.ts';
import { badge, code, notice, table } from '../components.ts';
import { type Html, html } from '../html.ts';
import { localTime } from '../result-parts.ts';
import { dashboardLayout } from './dashboard-layout.ts';
import { stateOf, WEBHOOKS_PATH } from './webhooks-page.ts';

export interface WebhookView {
  endpoint: StoredWebhookEndpoint;
  secret: string;
  deliveries: readonly StoredDelivery[];
  /** The last delivery on this page, if there are more. */
  after: string | null;
  isFirstPage: boolean;
}

/** One endpoint: its state, its secret, and its delivery log. */
export const webhookPage = (baseUrl: string, view: WebhookView): string => {
  const { endpoint, secret } = view;
  const path = `${WEBHOOKS_PATH}/${endpoint.url === null ? ACCOUNT_ENDPOINT : endpoint.id}`;
  return dashboardLayout({
    baseUrl,
    path,
    heading: endpoint.url === null ? 'Single polls and batches' : 'Webhook endpoint',
    main: html`<p><a href="${WEBHOOKS_PATH}">All endpoints</a></p>
<div class="webhook-cards">
${endpoint.url === null ? html`<p class="lead">What is sent to the <code>webhook_url</code> of a poll or batch is signed with this secret.</p>` : aboutEndpoint(endpoint, path)}
<section class="card stack" aria-labelledby="secret-title">
<h2 id="secret-title">Signing secret</h2>
<details><summary>Show the secret</summary>${code(secret, 'The signing secret')}</details>
${endpoint.previousUntil ? html`<p class="small muted">Until ${localTime(endpoint.previousUntil.toISOString(), 'short')}, messages are also signed with the previous secret.</p>` : ''}
<details><summary>Replace it</summary>
<form class="stack" method="post" action="${path}/rotate"><input type="hidden" name="replaces" value="${nameOfSecret(endpoint)}"><p>For a day, messages carry the signatures of both secrets, so that your server can switch without a gap.${endpoint.previousUntil ? ' The secret before this one stops signing at once: a server that still has it fails.' : ''}</p>
<p><button class="button">Make a new secret</button></p></form>
</details>
</section>
${logSection(view, path)}
${endpoint.url === null ? '' : dangerSection(endpoint, path)}</div>`,
  });
};

const aboutEndpoint = (
  endpoint: StoredWebhookEndpoint,
  path: string,
): Html => html`<section class="card stack" aria-labelledby="state-title">
<h2 id="state-title" class="break-anywhere">${endpoint.url ?? ''}</h2>
${endpoint.description ? html`<p class="muted break-anywhere" dir="auto">${endpoint.description}</p>` : ''}
<dl class="facts">
<dt>State</dt><dd>${stateOf(endpoint)}</dd>
<dt>Events</dt><dd>${endpoint.eventTypes.join(', ')}</dd>
<dt>Waiting</dt><dd>${endpoint.pending}</dd>
${endpoint.skipped > 0 ? html`<dt>Not sent</dt><dd>${endpoint.skipped}, because too many were waiting</dd>\n` : ''}</dl>
${
  endpoint.disabledAt
    ? html`${notice(html`<p>Nothing is sent to this endpoint. Enable it once it works again; failed deliveries can be resent below.</p>`, 'warn')}
<form method="post" action="${path}/enable"><button class="button">Enable</button></form>`
    : html`<form method="post" action="${path}/test"><button class="button">Send a test event</button></form>`
}
</section>`;

const dangerSection = (
  { disabledAt }: StoredWebhookEndpoint,
  path: string,
): Html => html`<section class="card stack" aria-labelledby="end-title">
<h2 id="end-title">Stop sending</h2>
<div class="row">
${disabledAt ? '' : html`<form method="post" action="${path}/disable"><button class="button secondary">Disable</button></form>`}
<details><summary>Remove it</summary><form class="stack" method="post" action="${path}/remove"><p>Its log goes with it. This cannot be undone.</p><p><button class="button danger">Remove</button></p></form></details>
</div>
</section>`;

const logSection = (
  { deliveries, after, isFirstPage }: WebhookView,
  path: string,
): Html => html`<section id="log" aria-labelledby="log-title">
<h2 id="log-title">Deliveries</h2>
${deliveries.length === 0 ? html`<p class="muted">${isFirstPage ? 'Nothing was sent yet.' : 'No more.'}</p>` : logTable(deliveries, path)}
${isFirstPage && after === null ? '' : html`<nav class="pager" aria-label="Pages of the log"><span>${isFirstPage ? '' : html`<a href="${path}#log">Newest</a>`}</span><span></span><span>${after ? html`<a rel="next" href="${path}?after=${after}#log">Older</a>` : ''}</span></nav>`}
<p class="small muted">Kept for 30 days.</p>
</section>
`;

const TONES = { pending: 'neutral', delivered: 'good', failed: 'bad' } as const;

const logTable = (deliveries: readonly StoredDelivery[], path: string): Html =>
  table(
    'Deliveries, newest first',
    html`<tr><th scope="col">Event</th><th scope="col">State</th><th scope="col" class="wide-only">Last attempt</th><th scope="col" class="wide-only">When</th><th scope="col"><span class="hidden-text">Action</span></th></tr>`,
    deliveries.map(
      ({ id, type, eventId, status, attempts, log, nextAttemptAt, createdAt, data }) => html`<tr>
<th scope="row">${type}<br><span class="mono muted small break-anywhere">${subjectOf(data) ?? eventId}</span></th>
<td>${badge(status, TONES[status])}<br><span class="small muted">${attempts} ${attempts === 1 ? 'attempt' : 'attempts'}</span><span class="narrow-only small">${lastAttempt(log.at(-1))}</span></td>
<td class="small wide-only">${lastAttempt(log.at(-1))}${nextAttemptAt && attempts > 0 ? html`<br><span class="muted">next ${localTime(nextAttemptAt.toISOString(), 'short')}</span>` : ''}</td>
<td class="when wide-only">${localTime(createdAt.toISOString(), 'short')}</td>
<td class="number"><form method="post" action="${path}/deliveries/${id}/resend"><button class="button secondary small">Resend<span class="hidden-text"> ${type} ${eventId}</span></button></form></td>
</tr>
`,
    ),
  );

/** The id of what the event is about, if there is one. */
const subjectOf = (data: Record<string, unknown>): string | null => {
  const id = data.session_id ?? data.batch_id ?? data.key_id ?? data.endpoint_id;
  return typeof id === 'string' ? id : null;
};

const ERRORS: Record<NonNullable<WebhookAttempt['error']>, string> = {
  name_not_resolved: 'the name was not found',
  address_refused: 'the name resolves to an address that is not public',
  connection_failed: 'no connection',
  tls_failed: 'no valid certificate',
  timed_out: 'no response in time',
  bad_answer: 'not an HTTP response',
};

function lastAttempt(attempt: WebhookAttempt | undefined): string {
  if (!attempt) return 'under way';
  const said = attempt.error ? ERRORS[attempt.error] : `HTTP ${attempt.http_status}`;
  return `${said}, ${attempt.took_ms} ms`;
}
