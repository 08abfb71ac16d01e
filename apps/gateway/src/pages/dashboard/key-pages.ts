import type { StoredApiKey } from '@eloquentpoll/storage';
import { KEY_SHOWN_ONCE } from '../../accounts/keys/issue-key.ts';
import { code, tabs } from '../components.ts';
import { oneTimeId, select } from '../form-parts.ts';
import { type Html, html } from '../html.ts';
import { localTime } from '../result-parts.ts';
import { dashboardLayout } from './dashboard-layout.ts';
import { keyFields, keyFieldsOf } from './key-fields.ts';
import { KEYS_PATH, type KeysShown, limitOf } from './keys-page.ts';

// The pages of one key.

/** How long a rotated key keeps working. */
export const OVERLAPS = [
  { value: '3600', label: 'for an hour' },
  { value: '86400', label: 'for a day' },
  { value: '604800', label: 'for 7 days' },
  { value: '0', label: 'not at all' },
] as const;

interface ShownKey {
  key: string;
  isReadOnly: boolean;
  expiresAt: Date | null;
  /** The key that this one replaces, and when that one stops working. */
  replaces?: { prefix: string; until: Date };
}

/** The only page that ever shows the whole key, with instructions. */
export const newKeyPage = (baseUrl: string, { key, isReadOnly, expiresAt, replaces }: ShownKey): string =>
  keyPage(
    baseUrl,
    'Your new key',
    html`<p class="lead">${KEY_SHOWN_ONCE}</p>
<div class="whole">${code(key, 'The new key')}</div>
${replaces ? html`<p>The old key, <span class="mono">${replaces.prefix}…</span>, works until ${localTime(replaces.until.toISOString())}.</p>` : ''}
${expiresAt ? html`<p>This key works until ${localTime(expiresAt.toISOString())}${replaces ? ', when the old one would have ended' : ''}. <a href="${KEYS_PATH}">Your keys</a> has it, to be changed.</p>` : ''}
<h2>Use it</h2>
${isReadOnly ? readSnippets(baseUrl, key) : askSnippets(baseUrl, key)}
<p><a class="button" href="${KEYS_PATH}">To your keys</a></p>`,
  );

const askSnippets = (baseUrl: string, key: string): Html =>
  tabs('Ways to use the key', [
    {
      id: 'use-curl',
      title: 'curl',
      content: code(
        `curl ${baseUrl}/api/poll \\\n  -H "Authorization: Bearer ${key}" \\\n  -H "Content-Type: application/json" \\\n  -d '{"question": "Which is larger, the Sun or the Moon?", "options": ["The Sun", "The Moon"]}'`,
        'A poll with curl',
      ),
    },
    {
      id: 'use-typescript',
      title: 'TypeScript',
      content: html`${code(
        `// curl -O ${baseUrl}/eloquentpoll.ts\nimport { EloquentPoll } from './eloquentpoll.ts';\n\nconst polls = new EloquentPoll({ apiKey: '${key}' });\nconst { outcome } = await polls.ask({ question: 'Which is larger?', options: ['The Sun', 'The Moon'] });\nconsole.log(outcome);`,
        'A poll in TypeScript',
      )}
<p class="muted small">In code that others see, read the key from the environment.</p>`,
    },
    {
      id: 'use-mcp',
      title: 'MCP',
      content: html`${code(
        `claude mcp add --transport http eloquentpoll ${baseUrl}/api/mcp \\\n  --header "Authorization: Bearer ${key}"`,
        'MCP server for Claude Code',
      )}
<p class="muted small">Other hosts are on <a href="/connect">Connect</a>.</p>`,
    },
  ]);

const readSnippets = (baseUrl: string, key: string): Html =>
  code(`curl "${baseUrl}/api/polls?limit=5" \\\n  -H "Authorization: Bearer ${key}"`, 'The newest polls with curl');

/** Forms to change what a key may do, and to rotate it. */
export function changeKeyPage(baseUrl: string, key: StoredApiKey, refused?: KeysShown['refused']): string {
  const { id, expiresAt } = key;
  const kept = expiresAt ? `As it is: ${expiresAt.toISOString().slice(0, 16).replace('T', ' ')} UTC` : undefined;
  const fields = refused?.fields ?? { ...keyFieldsOf(key), ...(!expiresAt && { expires: '' }) };
  return keyPage(
    baseUrl,
    `Key ${key.prefix}…`,
    html`<section class="card" aria-labelledby="terms-title"><h2 id="terms-title">What it may do</h2>
${key.limit ? html`<p class="limit">${limitOf(key)}</p>` : ''}
<form method="post" action="${KEYS_PATH}/${id}" accept-charset="utf-8" class="stack">
${keyFields(fields, kept)}
${refused ? html`<p class="field-error" role="alert">${refused.problem}</p>` : ''}
<p class="hint">What it has spent in the period counts against a new limit at once.</p>
<p class="row"><button class="button">Save</button> <a class="button secondary" href="${KEYS_PATH}">Back</a></p>
</form></section>
<section class="card" aria-labelledby="rotate-title"><h2 id="rotate-title">Rotate</h2>
<p>Makes a key with the same name and terms, and lets this one end. What this one has spent is not counted for the new one.${expiresAt ? html` The new key ends when this one would: ${localTime(expiresAt.toISOString())}. For one that goes on, change the expiry above first.` : ''}</p>
<form class="inline-form" method="post" action="${KEYS_PATH}/${id}/rotate">
${oneTimeId()}${select('overlap', 'This key goes on working', OVERLAPS, '86400')}
<button class="button secondary">Rotate</button>
</form></section>
<p class="apart"><a class="button danger" href="${KEYS_PATH}/${id}/revoke">Revoke</a></p>`,
  );
}

export const revokeKeyPage = (baseUrl: string, { id, prefix, label }: StoredApiKey): string =>
  keyPage(
    baseUrl,
    'Revoke this key?',
    html`<p class="lead">Whatever uses <strong dir="auto">${prefix}…${label ? ` (${label})` : ''}</strong> stops working at once. This cannot be undone.</p>
<form class="row" method="post" action="${KEYS_PATH}/${id}/revoke">
<button class="button danger">Revoke</button>
<a class="button secondary" href="${KEYS_PATH}">Keep it</a>
</form>`,
  );

const keyPage = (baseUrl: string, heading: string, main: Html): string =>
  dashboardLayout({ baseUrl, path: KEYS_PATH, heading, main, scripts: ['local-time'] });
