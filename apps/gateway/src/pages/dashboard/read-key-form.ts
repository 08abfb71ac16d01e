import { LIMIT_RESETS, LIMITS, type LimitReset } from '@eloquentpoll/contracts';
import type { KeyLimitTerms } from '@eloquentpoll/storage';
import { limitU } from '../../accounts/keys/read-key-terms.ts';
import { type FormBody, valuesOf } from '../../http/form-bodies.ts';

const DAY_MS = 86_400_000;

export const EXPIRIES = [
  { value: '1', label: 'In a day' },
  { value: '7', label: 'In 7 days' },
  { value: '30', label: 'In 30 days' },
  { value: '90', label: 'In 90 days' },
  { value: '365', label: 'In a year' },
] as const;

/** The choice that leaves the expiry unchanged. */
export const KEEP_EXPIRY = 'keep';

/** The fields as typed. */
export interface KeyFields {
  label: string;
  limit: string;
  reset: LimitReset;
  expires: string;
  isReadOnly: boolean;
}

export interface KeyTyped {
  label: string;
  limit: KeyLimitTerms;
  /** Undefined: unchanged. */
  expiresAt: Date | null | undefined;
  isReadOnly: boolean;
}

export function readKeyFields(body: FormBody | undefined): KeyFields {
  const field = (name: string) => valuesOf(body, name)[0] ?? '';
  return {
    label: field('label'),
    limit: field('limit').trim(),
    reset: LIMIT_RESETS.find((reset) => reset === field('reset')) ?? 'never',
    expires: field('expires'),
    isReadOnly: field('read_only') === 'on',
  };
}

/** Parses the fields, or says what is wrong with them. */
export function readKeyTyped(fields: KeyFields, now = Date.now()): KeyTyped | { problem: string } {
  const { label, limit, reset, expires, isReadOnly } = fields;
  if ([...label].length > LIMITS.key_label) return { problem: `A name has at most ${LIMITS.key_label} characters.` };
  const amount = limit.replace(/^\$/, '');
  if (amount !== '' && (!/^\d{1,9}(\.\d{1,6})?$/.test(amount) || Number(amount) > LIMITS.key_limit_usd))
    return {
      problem: `The limit is an amount in dollars, at most ${LIMITS.key_limit_usd.toLocaleString('en-US')}, or an empty field.`,
    };
  const days = EXPIRIES.find(({ value }) => value === expires);
  return {
    label,
    limit: amount === '' ? { limitU: null, reset: 'never' } : { limitU: limitU(Number(amount)), reset },
    expiresAt: days ? new Date(now + Number(days.value) * DAY_MS) : expires === KEEP_EXPIRY ? undefined : null,
    isReadOnly,
  };
}
