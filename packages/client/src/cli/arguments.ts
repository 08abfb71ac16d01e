import { parseArgs } from 'node:util';
import { LIMITS } from '@eloquentpoll/contracts/limits';
import type { PollListQuery, PollRequest } from '../eloquentpoll.ts';
import { COMMANDS, isCommand, KEY_ACTIONS, OPTIONS, PRESETS, SHELLS, STATUSES } from './command-line.ts';
import { didYouMean } from './did-you-mean.ts';
import { type PollText, readPollText } from './poll-text.ts';
import { dollars, threshold, whole } from './read-numbers.ts';
import { UsageError } from './usage-error.ts';

// Parses the command line. An invalid one is a UsageError that says what to write.

export interface CliSettings {
  url: string | undefined;
  key: string | undefined;
  session: string | undefined;
  json: boolean;
}

/** How a poll is run, besides its question and options. */
export type PollTerms = Omit<PollRequest, 'question' | 'options'>;

export type Command =
  | { name: 'ask'; how: 'stream' | 'dry-run'; poll: PollText | null; terms: PollTerms }
  | { name: 'ask'; how: 'free'; poll: PollText | null }
  | { name: 'result' | 'watch' | 'open' | 'cancel'; id: string }
  | { name: 'verify'; what: string; keys: string | undefined; days: string | undefined }
  | { name: 'polls'; query: PollListQuery }
  | { name: 'history'; limit: number; offset: number }
  | { name: 'keys'; action: 'list' }
  | { name: 'keys'; action: 'create'; label: string | undefined }
  | { name: 'keys'; action: 'revoke'; id: string }
  | { name: 'login'; browser: boolean }
  | { name: 'completion'; shell: (typeof SHELLS)[number] }
  | { name: 'balance' | 'logout' }
  | { name: 'help' | 'version' };

export function readArguments(argv: readonly string[], env: NodeJS.ProcessEnv): Command & CliSettings {
  const { values, positionals } = parsed(argv);
  return { ...readSettings(values, env), ...readCommand(values, positionals) };
}

type Values = ReturnType<typeof parsed>['values'];

function parsed(argv: readonly string[]) {
  try {
    return parseArgs({ args: [...argv], options: OPTIONS, allowPositionals: true, strict: true });
  } catch (error) {
    // The first sentence of parseArgs' message names the option.
    const [sentence = ''] = error instanceof Error ? error.message.split('. ') : [];
    const unknown = /^Unknown option '--([^']+)'/.exec(sentence)?.[1];
    const names = Object.keys(OPTIONS).map((name) => `--${name}`);
    if (unknown !== undefined) {
      throw new UsageError(`Unknown option --${unknown}.${didYouMean(`--${unknown}`, names) || ' See --help.'}`);
    }
    throw new UsageError(`${sentence.replace(/\.$/, '') || 'The options cannot be read'}. See --help.`);
  }
}

function readSettings(values: Values, env: NodeJS.ProcessEnv): CliSettings {
  const settings = {
    url: values.url ?? (env.EP_URL || undefined),
    key: (values.key ?? env.EP_KEY)?.trim() || undefined,
    session: (values.session ?? env.EP_SESSION)?.trim() || undefined,
    json: values.json ?? false,
  };
  if (settings.url !== undefined && !/^https?:$/.test(URL.parse(settings.url)?.protocol ?? '')) {
    throw new UsageError('--url (or EP_URL) must be an address such as https://polls.example.com.');
  }
  for (const secret of [settings.key, settings.session]) {
    if (secret && !/^[\x21-\x7e]+$/.test(secret)) throw new UsageError('The key has characters that no key has.');
  }
  return settings;
}

function readCommand(values: Values, positionals: readonly string[]): Command {
  const [first] = positionals;
  if (values.version) return { name: 'version' };
  if (values.help || (first === undefined && Object.keys(values).length === 0)) return { name: 'help' };
  if (first === undefined || !isCommand(first)) {
    refuseUnknownCommand(positionals);
    return readAsk(positionals, values);
  }
  const words = positionals.slice(1);
  switch (first) {
    case 'ask':
      return readAsk(words, values);
    case 'result':
    case 'watch':
    case 'open':
      return { name: first, id: only(words, `${first} takes one id: ${first} EP-…`) };
    case 'cancel':
      return { name: first, id: only(words, 'cancel takes one id: cancel ps_…') };
    case 'verify':
      return {
        name: first,
        what: only(words, 'verify takes one id or file: verify EP-…'),
        keys: values.keys,
        days: values.days,
      };
    case 'polls':
      none(words, 'polls takes no words; --status, --close, --metadata, --preset, --limit and --after say which.');
      return { name: 'polls', query: readPollQuery(values) };
    case 'history':
      none(words, 'history takes no words; --limit and --offset say which part.');
      return {
        name: 'history',
        limit: whole('--limit', values.limit, {
          least: 1,
          most: LIMITS.history.max,
          otherwise: LIMITS.history.default,
        }),
        offset: whole('--offset', values.offset, { least: 0, most: Number.MAX_SAFE_INTEGER, otherwise: 0 }),
      };
    case 'keys':
      return readKeys(words);
    case 'login':
      none(words, 'login takes no words.');
      return { name: 'login', browser: values['no-browser'] !== true };
    case 'completion': {
      const shell = oneOf('shell', only(words, 'completion takes one shell: bash, zsh or fish'), SHELLS);
      return { name: 'completion', shell };
    }
    case 'balance':
    case 'logout':
    case 'help':
      none(words, `${first} takes no words.`);
      return { name: first };
  }
}

/** A single word is a mistyped command, not a question. */
function refuseUnknownCommand(positionals: readonly string[]): void {
  const [first = ''] = positionals;
  if (!/^[\w-]+$/.test(first)) return;
  const meant = didYouMean(first, Object.keys(COMMANDS));
  if (meant || positionals.length === 1) throw new UsageError(`Unknown command ${first}.${meant || ' See --help.'}`);
}

function readKeys([action = 'list', ...words]: readonly string[]): Command {
  switch (oneOf('action of keys', action, KEY_ACTIONS)) {
    case 'list':
      none(words, 'keys list takes no words.');
      return { name: 'keys', action: 'list' };
    case 'create':
      if (words.length > 1) throw new UsageError('keys create takes one label: keys create "build server".');
      return { name: 'keys', action: 'create', label: words[0] };
    case 'revoke':
      return { name: 'keys', action: 'revoke', id: only(words, 'keys revoke takes one id or prefix: see keys list') };
  }
}

const ASK = 'ask takes one text in quotes: ask "Which is larger? [The Sun, The Moon]"';

function readAsk(words: readonly string[], values: Values): Command {
  const poll = words.length === 0 ? null : readPollText(only(words, ASK), values.option);
  if (values.free) {
    const extra = (
      ['preset', 'models', 'panel', 'threshold', 'max-cost', 'dry-run', 'reasons', 'metadata'] as const
    ).find((name) => values[name]);
    if (extra) throw new UsageError(`--free and --${extra} do not go together: a free poll has terms of its own.`);
    return { name: 'ask', how: 'free', poll };
  }
  const panels = (['preset', 'models', 'panel'] as const).filter((name) => values[name] !== undefined);
  if (panels.length > 1) throw new UsageError(`--${panels[0]} and --${panels[1]} both name a panel: give one of them.`);
  const terms: PollTerms = {
    ...(values.preset !== undefined && { preset: oneOf('preset', values.preset, PRESETS) }),
    ...(values.models !== undefined && { models: modelIds(values.models) }),
    ...(values.panel !== undefined && { panel: values.panel }),
    ...(values.threshold !== undefined && { confidence_threshold: threshold(values.threshold) }),
    ...(values['max-cost'] !== undefined && { max_cost_usd: dollars(values['max-cost'], LIMITS.max_cost_usd.max) }),
    ...(values.reasons && { reasons: true }),
    ...(values.metadata && { metadata: pairs(values.metadata) }),
  };
  return { name: 'ask', how: values['dry-run'] ? 'dry-run' : 'stream', poll, terms };
}

function modelIds(text: string): string[] {
  const ids = text.split(',').map((id) => id.trim());
  const { min, max } = LIMITS.chosen_models;
  if (ids.length >= min && ids.length <= max && !ids.includes('') && new Set(ids).size === ids.length) return ids;
  throw new UsageError(`--models takes ${min} to ${max} different ids, separated by commas.`);
}

function readPollQuery(values: Values): PollListQuery {
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

function pairs(texts: readonly string[]): Record<string, string> {
  const found = texts.map((text) => {
    const at = text.indexOf('=');
    if (at < 1) throw new UsageError(`--metadata takes KEY=VALUE, such as customer=42; it was ${text}.`);
    return [text.slice(0, at), text.slice(at + 1)] as const;
  });
  const twice = found.find(([key], i) => found.findIndex(([other]) => other === key) < i);
  if (twice) throw new UsageError(`--metadata has the key ${twice[0]} twice.`);
  return Object.fromEntries(found);
}

function only(words: readonly string[], sentence: string): string {
  const [word] = words;
  if (words.length !== 1 || !word?.trim()) throw new UsageError(`${sentence}.`);
  return word;
}

function none(words: readonly string[], sentence: string): void {
  if (words.length > 0) throw new UsageError(sentence);
}

function oneOf<const Name extends string>(what: string, word: string, names: readonly Name[]): Name {
  const found = names.find((name) => name === word);
  if (found) return found;
  const list = `${names.slice(0, -1).join(', ')} or ${names.at(-1)}`;
  throw new UsageError(`Unknown ${what} ${word}: ${list}.${didYouMean(word, names)}`);
}
