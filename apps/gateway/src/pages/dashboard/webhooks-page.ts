import { ACCOUNT_ENDPOINT, LIMITS, WEBHOOK_EVENT_TYPES, type WebhookEventType } from '@eloquentpoll/contracts';
import type { StoredWebhookEndpoint } from '@eloquentpoll/storage';
import type { ReceiverRules } from '@eloquentpoll/webhooks';
import { badge, notice, table } from '../components.ts';
import { oneTimeId } from '../form-parts.ts';
import { type Html, html } from '../html.ts';
import { localTime } from '../result-parts.ts';
import { dashboardLayout } from './dashboard-layout.ts';

export const WEBHOOKS_PATH = '/dashboard/webhooks';

export interface WebhookForm {
  url: string;
  description: string;
  eventTypes: readonly string[];
  /** Why the submitted form was refused. */
  problem: string | null;
}

export const EMPTY_FORM: WebhookForm = { url: '', description: '', eventTypes: WEBHOOK_EVENT_TYPES, problem: null };

/** The account's webhook endpoints, and a form to add one. */
export const webhooksPage = (
  baseUrl: string,
  endpoints: readonly StoredWebhookEndpoint[],
  { toLoopback }: Pick<ReceiverRules, 'toLoopback'>,
  form: WebhookForm = EMPTY_FORM,
): string =>
  dashboardLayout({
    baseUrl,
    path: WEBHOOKS_PATH,
    heading: 'Webhooks',
    main: html`<p class="lead">Your server is notified when polls and batches end. <a href="/guides/webhooks">How to receive and verify</a></p>
<div class="webhook-cards">
<section class="card stack" aria-labelledby="endpoints-title">
<h2 id="endpoints-title">Endpoints</h2>
${endpoints.length === 0 ? html`<p class="muted">None yet.</p>` : endpointTable(endpoints)}
<p class="small"><a href="${WEBHOOKS_PATH}/${ACCOUNT_ENDPOINT}">Secret and log of single polls and batches</a> that were sent with a <code>webhook_url</code>.</p>
</section>
${endpoints.length >= LIMITS.webhooks.endpoints ? html`<p class="muted">An account has at most ${LIMITS.webhooks.endpoints} endpoints.</p>` : newForm(form, toLoopback)}</div>`,
  });

export const webhooksOffPage = (baseUrl: string): string =>
  dashboardLayout({
    baseUrl,
    path: WEBHOOKS_PATH,
    heading: 'Webhooks',
    main: html`<p class="muted">Webhooks are not configured on this service.</p>`,
  });

const endpointTable = (endpoints: readonly StoredWebhookEndpoint[]): Html =>
  table(
    'Webhook endpoints',
    html`<tr><th scope="col">Address</th><th scope="col">State</th><th scope="col" class="wide-only">Events</th><th scope="col" class="number wide-only">Waiting</th></tr>`,
    endpoints.map(
      (endpoint) => html`<tr>
<th scope="row" class="about"><a class="break-anywhere" href="${WEBHOOKS_PATH}/${endpoint.id}">${endpoint.url ?? ''}</a>${endpoint.description ? html`<br><span class="muted small break-anywhere" dir="auto">${endpoint.description}</span>` : ''}</th>
<td>${stateOf(endpoint)}</td>
<td class="wide-only small">${endpoint.eventTypes.length === WEBHOOK_EVENT_TYPES.length ? 'all' : endpoint.eventTypes.join(', ')}</td>
<td class="number wide-only">${endpoint.pending}</td>
</tr>
`,
    ),
  );

const WHY = { owner: 'by you', gone: 'it answered 410', failing: 'it failed for three days' };

export function stateOf({ disabledWhy, failingSince }: StoredWebhookEndpoint): Html {
  if (disabledWhy)
    return html`${badge('disabled', disabledWhy === 'owner' ? 'neutral' : 'bad')} <span class="small muted">${WHY[disabledWhy]}</span>`;
  return failingSince
    ? html`${badge('failing', 'warn')} <span class="small muted">since ${localTime(failingSince.toISOString(), 'short')}</span>`
    : badge('works', 'good');
}

const SAID: Record<WebhookEventType, string> = {
  'poll.completed': 'a poll has a result',
  'poll.failed': 'a poll failed or was canceled',
  'batch.completed': 'a batch ended',
  'balance.low': 'the balance fell below your threshold',
  'key.limit_reached': 'a key reached its spending limit',
  'endpoint.disabled': 'another endpoint was disabled',
};

const newForm = (
  { url, description, eventTypes, problem }: WebhookForm,
  toLoopback: boolean,
): Html => html`<section class="card stack" id="new" aria-labelledby="new-title">
<h2 id="new-title">New endpoint</h2>
${problem ? notice(html`<p role="alert">${problem}</p>`, 'bad') : ''}
<form class="stack" method="post" action="${WEBHOOKS_PATH}" accept-charset="utf-8">
${oneTimeId()}<p class="field"><label for="url">Address</label>
<input id="url" name="url" type="url" required maxlength="${LIMITS.webhooks.url}" value="${url}" placeholder="https://app.example.com/hooks" aria-describedby="url-hint">
<span class="hint" id="url-hint">https, on port 443 or 8443, and public${toLoopback ? '; or on this machine, such as http://localhost:3000/hooks' : ''}</span></p>
<p class="field"><label for="description">Description</label>
<input id="description" name="description" maxlength="${LIMITS.webhooks.description}" value="${description}" placeholder="optional" autocomplete="off"></p>
<fieldset class="webhook-events"><legend>Send when</legend>
${WEBHOOK_EVENT_TYPES.map((type) => html`<label><input type="checkbox" name="event_types" value="${type}"${eventTypes.includes(type) ? html` checked` : ''}> <span>${SAID[type]} <code>${type}</code></span></label>\n`)}</fieldset>
<p><button class="button">Add endpoint</button></p>
</form>
</section>
`;
