import { LIMITS } from '@eloquentpoll/contracts/limits';
import type { PollListQuery, PollOptions, PollRequest } from '../eloquentpoll.ts';
import { PRESETS, STATUSES } from './command-line.ts';
import { allowOnly, type Values } from './options.ts';
import { type PollText, readPollText } from './poll-text.ts';
import { dollars, threshold, whole } from './read-numbers.ts';
import { UsageError } from './usage-error.ts';
import { oneOf, only } from './words.ts';

/** All settings of a poll except its question and options. */
export type PollTerms = Omit<PollRequest, 'question' | 'options'>;

export type AskCommand =
  | { name: 'ask'; how: 'stream'; poll: PollText | null; terms: PollTerms; options: KeyOption }
  | { name: 'ask'; how: 'dry-run'; poll: PollText | null; terms: PollTerms }
  | { name: 'ask'; how: 'free'; poll: PollText | null; options: KeyOption };
type KeyOption = Pick<PollOptions, 'idempotencyKey'>;

const TERMS = ['preset', 'models', 'panel', 'threshold', 'max-cost', 'reasons', 'metadata'] as const;
const ASK = 'ask takes one text in quotes: ask "Which is larger? [The Sun, The Moon]"';

export function readAsk(words: readonly string[], values: Values): AskCommand {
  allowOnly('ask', values, ['option', 'free', 'dry-run', 'idempotency-key', ...TERMS]);
  const options = readKeyOption(values);
  const poll = words.length === 0 ? null : readPollText(only(words, ASK), values.option);
  if (values.free) {
    const extra = (['dry-run', ...TERMS] as const).find((name) => values[name]);
    if (extra) throw new UsageError(`--free and --${extra} cannot be combined: a free poll has fixed terms.`);
    return { name: 'ask', how: 'free', poll, options };
  }
  const panels = (['preset', 'models', 'panel'] as const).filter((name) => values[name] !== undefined);
  if (panels.length > 1) throw new UsageError(`--${panels[0]} and --${panels[1]} both name a panel; use one of them.`);
  const terms: PollTerms = {
    ...(values.preset !== undefined && { preset: oneOf('preset', values.preset, PRESETS) }),
    ...(values.models !== undefined && { models: modelIds(values.models) }),
    ...(values.panel !== undefined && { panel: values.panel }),
    ...(values.threshold !== undefined && { confidence_threshold: threshold(values.threshold) }),
    ...(values['max-cost'] !== undefined && { max_cost_usd: dollars(values['max-cost'], LIMITS.max_cost_usd.max) }),
    ...(values.reasons && { reasons: true }),
    ...(values.metadata && { metadata: pairs(values.metadata) }),
  };
  return values['dry-run']
    ? { name: 'ask', how: 'dry-run', poll, terms }
    : { name: 'ask', how: 'stream', poll, terms, options };
}

function readKeyOption({ 'idempotency-key': key, 'dry-run': isDry }: Values): KeyOption {
  if (key === undefined) return {};
  if (isDry) throw new UsageError('--dry-run and --idempotency-key cannot be combined: nothing is run.');
  if (!/^[\x21-\x7e]{1,255}$/.test(key))
    throw new UsageError('--idempotency-key must have 1 to 255 characters, of ASCII and without spaces.');
  return { idempotencyKey: key };
}

function modelIds(text: string): string[] {
  const ids = text.split(',').map((id) => id.trim());
  const { min, max } = LIMITS.chosen_models;
  if (ids.length >= min && ids.length <= max && !ids.includes('') && new Set(ids).size === ids.length) return ids;
  throw new UsageError(`--models takes ${min} to ${max} different ids, separated by commas.`);
}

export function readPollQuery(values: Values): PollListQuery {
  const { default: otherwise, max: most } = LIMITS.poll_list;
  return {
    limit: whole('--limit', values.limit, { least: 1, most, otherwise }),
    ...(values.after !== undefined && { after: values.after }),
    ...(values.status !== undefined && { status: oneOf('status', values.status, STATUSES) }),
    ...(values.close && { close: true }),
    ...(values.preset !== undefined && { preset: oneOf('preset', values.preset, PRESETS) }),
    ...(values.metadata && { metadata: pairs(values.metadata) }),
  };
}

export function pairs(texts: readonly string[]): Record<string, string> {
  const found = texts.map((text) => {
    const at = text.indexOf('=');
    if (at < 1) throw new UsageError(`--metadata must be KEY=VALUE, such as customer=42, not ${text}.`);
    return [text.slice(0, at), text.slice(at + 1)] as const;
  });
  const twice = found.find(([key], i) => found.findIndex(([other]) => other === key) < i);
  if (twice) throw new UsageError(`--metadata contains the key ${twice[0]} twice.`);
  return Object.fromEntries(found);
}
