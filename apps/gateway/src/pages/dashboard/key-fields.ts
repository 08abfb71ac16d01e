import { LIMITS } from '@eloquentpoll/contracts';
import type { StoredApiKey } from '@eloquentpoll/storage';
import { type Choice, select } from '../form-parts.ts';
import { type Html, html } from '../html.ts';
import { EXPIRIES, KEEP_EXPIRY, type KeyFields } from './read-key-form.ts';

export const NO_TERMS: KeyFields = { label: '', limit: '', reset: 'never', expires: '', isReadOnly: false };

export const keyFieldsOf = ({ label, limit, isReadOnly }: StoredApiKey): KeyFields => ({
  label,
  limit: limit ? String(Number(limit.limitU) / 1_000_000) : '',
  reset: limit?.reset ?? 'never',
  expires: KEEP_EXPIRY,
  isReadOnly,
});

const RESETS: readonly Choice[] = [
  { value: 'never', label: 'In all' },
  { value: 'daily', label: 'Per day (UTC)' },
  { value: 'monthly', label: 'Per month (UTC)' },
];

/** The fields for what a key may do. `kept`: the choice that leaves the expiry unchanged. */
export const keyFields = (fields: KeyFields, kept?: string): Html => html`<div class="key-fields">
<p class="field"><label for="label">Key name</label>
<input id="label" name="label" maxlength="${LIMITS.key_label}" value="${fields.label}" placeholder="e.g. worker" autocomplete="off" dir="auto"></p>
<p class="field"><label for="limit">Spending limit ($)</label>
<input id="limit" name="limit" inputmode="decimal" value="${fields.limit}" placeholder="none" autocomplete="off"></p>
${select('reset', 'The limit counts', RESETS, fields.reset)}
${select(
  'expires',
  'Expires',
  [...(kept === undefined ? [] : [{ value: KEEP_EXPIRY, label: kept }]), { value: '', label: 'Never' }, ...EXPIRIES],
  fields.expires,
)}
<p class="field check"><label><input type="checkbox" name="read_only"${fields.isReadOnly ? html` checked` : ''}> Read results only</label></p>
</div>`;
