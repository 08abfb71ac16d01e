import type { KeySpend, StoredApiKey } from '@eloquentpoll/storage';
import { badge, table } from '../components.ts';
import { usd } from '../figures.ts';
import { oneTimeId } from '../form-parts.ts';
import { type Html, html } from '../html.ts';
import { localTime } from '../result-parts.ts';
import { dashboardLayout } from './dashboard-layout.ts';
import { keyFields, NO_TERMS } from './key-fields.ts';
import type { KeyFields } from './read-key-form.ts';

export const KEYS_PATH = '/dashboard/keys';

export interface KeysShown {
  keys: readonly StoredApiKey[];
  /** By key id; a key that was not charged this month is missing. */
  spend: ReadonlyMap<string, KeySpend>;
  /** A refused form: its fields, and why it was refused. */
  refused?: { fields: KeyFields; problem: string };
}

/** All keys by their prefix, with spending and limits, and the form for a new key. */
export function keysPage(baseUrl: string, { keys, spend, refused }: KeysShown): string {
  const active = keys.filter(isActive);
  const ended = keys.filter((key) => !isActive(key));
  return dashboardLayout({
    baseUrl,
    path: KEYS_PATH,
    heading: 'API keys',
    scripts: ['local-time'],
    main: html`${active.length === 0 ? html`<p class="muted">No active keys. Create one to run polls from code or by your agent.</p>` : keyTable(active, spend)}
${ended.length === 0 ? '' : html`<details class="small"><summary>${ended.length} revoked or expired</summary>${endedTable(ended)}</details>`}
<section class="card" id="new-key" aria-labelledby="new-key-title">
<h2 id="new-key-title">New key</h2>
<form method="post" action="${KEYS_PATH}" accept-charset="utf-8" class="stack">
${oneTimeId()}${keyFields(refused?.fields ?? NO_TERMS)}
${refused ? html`<p class="field-error" role="alert">${refused.problem}</p>` : ''}
<p class="hint">A key that has a limit, expires or is read-only cannot manage keys; other keys can. Deleting the account, paying by card, <code>GET /api/balance</code>, <code>GET /api/results</code> and <code>/api/results/recent</code> are for you alone, signed in.</p>
<p><button class="button">Create key</button></p>
</form>
</section>
`,
  });
}

export const isActive = ({ revokedAt, expiresAt }: StoredApiKey, now = Date.now()): boolean =>
  revokedAt === null && (expiresAt === null || expiresAt.getTime() > now);

const keyTable = (keys: readonly StoredApiKey[], spend: KeysShown['spend']): Html =>
  table(
    'Active keys',
    html`<tr><th scope="col">Key</th><th scope="col" class="number wide-only">Today</th><th scope="col" class="number wide-only">This month</th><th scope="col">Limit</th><th scope="col" class="wide-only">Expires</th><th scope="col" class="wide-only">Last used</th><th scope="col"><span class="hidden-text">Action</span></th></tr>`,
    keys.map((key) => {
      const { id, prefix, label, isReadOnly, expiresAt, lastUsedAt } = key;
      const { todayU, monthU } = spend.get(id) ?? { todayU: 0n, monthU: 0n };
      return html`<tr>
<th scope="row" class="key-name">${label ? html`<span dir="auto">${label}</span> ` : ''}<span class="mono muted">${prefix}…</span>${isReadOnly ? html` ${badge('Reads only')}` : ''}<span class="narrow-only muted small">${dollars(monthU)} this month</span></th>
<td class="number wide-only">${dollars(todayU)}</td><td class="number wide-only">${dollars(monthU)}</td>
<td class="limit">${limitOf(key)}</td>
<td class="when wide-only">${expiresAt ? localTime(expiresAt.toISOString()) : 'never'}</td>
<td class="when wide-only">${lastUsedAt ? localTime(lastUsedAt.toISOString(), 'short') : 'never'}</td>
<td class="number"><a class="button secondary small" href="${KEYS_PATH}/${id}">Change<span class="hidden-text"> ${prefix} ${label}</span></a> <a class="button danger small" href="${KEYS_PATH}/${id}/revoke">Revoke<span class="hidden-text"> ${prefix} ${label}</span></a></td>
</tr>
`;
    }),
  );

const dollars = (microUsd: bigint): string => usd(Number(microUsd) / 1_000_000);

const PERIODS = { never: '', daily: ' per day', monthly: ' per month' } as const;

/** Money held for running polls counts as spent. */
export function limitOf({ limit }: StoredApiKey): Html {
  if (!limit) return html`<span class="muted">none</span>`;
  const { limitU, spentU, heldU, reset } = limit;
  const usedU = spentU + heldU;
  const share = limitU === 0n ? 100 : Math.min(100, Number((1000n * usedU) / limitU) / 10);
  return html`${dollars(usedU)} of ${dollars(limitU)}${PERIODS[reset]}${usedU >= limitU ? html` ${badge('Reached', 'warn')}` : ''}<svg class="bar accent" aria-hidden="true"><rect width="${share.toFixed(1)}%" height="100%"/></svg>`;
}

const endedTable = (keys: readonly StoredApiKey[]): Html =>
  table(
    'Revoked and expired keys',
    html`<tr><th scope="col">Key</th><th scope="col">Name</th><th scope="col" class="wide-only">Created</th><th scope="col">Ended</th></tr>`,
    keys.map(
      ({ prefix, label, createdAt, revokedAt, expiresAt }) => html`<tr>
<th scope="row" class="mono">${prefix}…</th><td dir="auto">${label || '–'}</td><td class="when wide-only">${localTime(createdAt.toISOString(), 'short')}</td><td class="when">${revokedAt ? 'revoked' : 'expired'} ${localTime((revokedAt ?? expiresAt ?? createdAt).toISOString(), 'short')}</td>
</tr>
`,
    ),
  );
