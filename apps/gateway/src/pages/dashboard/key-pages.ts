import type { StoredApiKey } from '@eloquentpoll/storage';
import { KEY_SHOWN_ONCE } from '../../accounts/keys/issue-key.ts';
import { code } from '../components.ts';
import { type Html, html } from '../html.ts';
import { layout } from '../layout.ts';

// Pages behind the key forms, for browsers without scripts.

const BACK = '/dashboard#keys';

export const newKeyPage = (baseUrl: string, key: string): string =>
  keyPage(
    baseUrl,
    'Your new key',
    html`<p class="lead">${KEY_SHOWN_ONCE}</p>
<div class="whole">${code(key, 'The new key')}</div>
<p><a class="button" href="${BACK}">To the dashboard</a></p>`,
  );

export const revokeKeyPage = (baseUrl: string, { id, prefix, label }: StoredApiKey): string =>
  keyPage(
    baseUrl,
    'Revoke this key?',
    html`<p class="lead">Whatever uses <strong>${prefix}…${label ? ` (${label})` : ''}</strong> stops working at once. This cannot be undone.</p>
<form class="row" method="post" action="/dashboard/keys/${id}/revoke">
<button class="button danger">Revoke</button>
<a class="button secondary" href="${BACK}">Keep it</a>
</form>`,
  );

const keyPage = (baseUrl: string, heading: string, said: Html): string =>
  layout({
    baseUrl,
    path: '/dashboard',
    title: `${heading} · EloquentPoll`,
    description: 'API keys of your account.',
    styles: ['dashboard'],
    hidden: true,
    signedIn: true,
    main: html`<h1>${heading}</h1>
${said}`,
  });
