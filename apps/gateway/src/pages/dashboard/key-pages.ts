import type { StoredApiKey } from '@eloquentpoll/storage';
import { KEY_SHOWN_ONCE } from '../../accounts/keys/issue-key.ts';
import { code } from '../components.ts';
import { type Html, html } from '../html.ts';
import { dashboardLayout } from './dashboard-layout.ts';
import { KEYS_PATH } from './keys-page.ts';

// Pages behind the key forms, for browsers without scripts.

export const newKeyPage = (baseUrl: string, key: string): string =>
  keyPage(
    baseUrl,
    'Your new key',
    html`<p class="lead">${KEY_SHOWN_ONCE}</p>
<div class="whole">${code(key, 'The new key')}</div>
<p><a class="button" href="${KEYS_PATH}">To your keys</a></p>`,
  );

export const revokeKeyPage = (baseUrl: string, { id, prefix, label }: StoredApiKey): string =>
  keyPage(
    baseUrl,
    'Revoke this key?',
    html`<p class="lead">Whatever uses <strong>${prefix}…${label ? ` (${label})` : ''}</strong> stops working at once. This cannot be undone.</p>
<form class="row" method="post" action="/dashboard/keys/${id}/revoke">
<button class="button danger">Revoke</button>
<a class="button secondary" href="${KEYS_PATH}">Keep it</a>
</form>`,
  );

const keyPage = (baseUrl: string, heading: string, main: Html): string =>
  dashboardLayout({ baseUrl, path: KEYS_PATH, heading, main });
