import type { KeyChange, KeyTerms } from '../eloquentpoll.ts';
import { KEY_ACTIONS, RESETS } from './command-line.ts';
import { allowOnly, type Values } from './options.ts';
import { amount, isDay } from './read-numbers.ts';
import { UsageError } from './usage-error.ts';
import { none, oneOf, only } from './words.ts';

export type KeysCommand =
  | { name: 'keys'; action: 'list' }
  | { name: 'keys'; action: 'create'; terms: KeyTerms }
  | { name: 'keys'; action: 'change'; id: string; change: KeyChange }
  | { name: 'keys'; action: 'revoke'; id: string };

const LIMITING = ['limit-usd', 'reset', 'until', 'read-only'] as const;

export function readKeys([action = 'list', ...words]: readonly string[], values: Values): KeysCommand {
  switch (oneOf('action of keys', action, KEY_ACTIONS)) {
    case 'list':
      none(words, 'keys list takes no further words.');
      allowOnly('keys list', values, []);
      return { name: 'keys', action: 'list' };
    case 'create': {
      allowOnly('keys create', values, LIMITING);
      if (words.length > 1) throw new UsageError('keys create takes one label: keys create "build server".');
      const { limit_usd, expires_at, ...others } = readTerms(values);
      if (limit_usd === null || expires_at === null) throw new UsageError('A new key has no limit to remove.');
      const [label] = words;
      const limits = { ...(limit_usd !== undefined && { limit_usd }), ...(expires_at !== undefined && { expires_at }) };
      return { name: 'keys', action: 'create', terms: { ...(label !== undefined && { label }), ...limits, ...others } };
    }
    case 'change': {
      allowOnly('keys change', values, [...LIMITING, 'label']);
      const id = only(words, 'keys change takes one id or prefix: see keys list');
      const change = { ...(values.label !== undefined && { label: values.label }), ...readTerms(values) };
      if (Object.keys(change).length === 0) {
        throw new UsageError('keys change needs --limit-usd, --reset, --until, --read-only or --label.');
      }
      return { name: 'keys', action: 'change', id, change };
    }
    case 'revoke':
      allowOnly('keys revoke', values, []);
      return { name: 'keys', action: 'revoke', id: only(words, 'keys revoke takes one id or prefix: see keys list') };
  }
}

const readTerms = (values: Values): KeyChange => ({
  ...(values['limit-usd'] !== undefined && { limit_usd: readLimit(values['limit-usd']) }),
  ...(values.reset !== undefined && { limit_reset: oneOf('reset', values.reset, RESETS) }),
  ...(values.until !== undefined && { expires_at: readEnd(values.until) }),
  ...(values['read-only'] && { read_only: true }),
});

const readLimit = (text: string): number | null => (text === 'none' ? null : amount('--limit-usd', text));

function readEnd(text: string): string | null {
  if (text === 'never') return null;
  const at = /^\d{4}-\d\d-\d\d([T ].*)?$/.test(text) ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(at) || !isDay(text.slice(0, 10)))
    throw new UsageError(`--until must be a day such as 2027-01-31, a time, or never, not ${text}.`);
  return new Date(at).toISOString();
}
