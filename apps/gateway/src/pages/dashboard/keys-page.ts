import { LIMITS } from '@eloquentpoll/contracts';
import type { StoredApiKey } from '@eloquentpoll/storage';
import { badge, table } from '../components.ts';
import { type Html, html } from '../html.ts';
import { localTime } from '../result-parts.ts';
import { dashboardLayout } from './dashboard-layout.ts';

export const KEYS_PATH = '/dashboard/keys';

export const keysPage = (baseUrl: string, keys: readonly StoredApiKey[]): string =>
  dashboardLayout({
    baseUrl,
    path: KEYS_PATH,
    heading: 'API keys',
    scripts: ['dashboard-keys'],
    main: keysSection(keys),
  });

/** The keys by their prefix; a new key is shown once. */
function keysSection(keys: readonly StoredApiKey[]): Html {
  const active = keys.filter(({ revokedAt }) => revokedAt === null);
  const revoked = keys.filter(({ revokedAt }) => revokedAt !== null);
  return html`<section class="card" id="keys" aria-label="API keys">
<form class="inline-form" method="post" action="/dashboard/keys" accept-charset="utf-8" data-new-key>
<p class="field"><label for="label">Key name</label>
<input id="label" name="label" maxlength="${LIMITS.key_label}" placeholder="e.g. production worker" autocomplete="off"></p>
<button class="button">Create key</button>
</form>
<div data-key-shown tabindex="-1" hidden></div>
<div id="key-list">
${active.length === 0 ? html`<p class="muted">No active keys. Create one to run polls from code.</p>` : keyTable(active)}
${revoked.length === 0 ? '' : html`<details class="small"><summary>${revoked.length} revoked</summary>${revokedTable(revoked)}</details>`}
</div>
<dialog data-revoke aria-labelledby="revoke-title">
<form method="dialog" class="stack">
<h3 id="revoke-title">Revoke this key?</h3>
<p>Whatever uses <strong data-key-name></strong> stops working at once. This cannot be undone.</p>
<p class="row"><button class="button danger" value="revoke">Revoke</button><button class="button secondary" value="keep" autofocus>Keep it</button></p>
</form>
</dialog>
</section>
`;
}

const keyTable = (keys: readonly StoredApiKey[]): Html =>
  table(
    'Active keys',
    html`<tr><th scope="col">Key</th><th scope="col">Name</th><th scope="col" class="wide-only">Created</th><th scope="col">Last used</th><th scope="col"><span class="hidden-text">Action</span></th></tr>`,
    keys.map(
      ({ id, prefix, label, createdAt, lastUsedAt }) => html`<tr>
<th scope="row" class="mono">${prefix}…</th><td>${label || '–'}</td><td class="when wide-only">${localTime(createdAt.toISOString(), 'short')}</td><td class="when">${lastUsedAt ? localTime(lastUsedAt.toISOString(), 'short') : 'never'}</td>
<td class="number"><form action="/dashboard/keys/${id}/revoke"><button class="button danger small" data-key="${id}" data-name="${label ? `${prefix}… (${label})` : `${prefix}…`}">Revoke<span class="hidden-text"> ${prefix} ${label}</span></button></form></td>
</tr>
`,
    ),
  );

const revokedTable = (keys: readonly StoredApiKey[]): Html =>
  table(
    'Revoked keys',
    html`<tr><th scope="col">Key</th><th scope="col">Name</th><th scope="col">Created</th><th scope="col">Revoked</th></tr>`,
    keys.map(
      ({ prefix, label, createdAt, revokedAt }) => html`<tr>
<th scope="row" class="mono">${prefix}…</th><td>${label || '–'}</td><td class="when">${localTime(createdAt.toISOString(), 'short')}</td><td class="when">${revokedAt ? localTime(revokedAt.toISOString(), 'short') : badge('active')}</td>
</tr>
`,
    ),
  );
