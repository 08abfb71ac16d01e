import { parseArgs } from 'node:util';
import { parseShorthand } from '@eloquentpoll/contracts/shorthand';
import type { PollRequest, Preset } from '../eloquentpoll.ts';
import { UsageError } from './usage-error.ts';

// Parses the command line. An invalid one is a UsageError that says what to write.

export interface CliSettings {
  url: string | undefined;
  key: string | undefined;
  session: string | undefined;
  json: boolean;
}

export type Command = CliSettings &
  (
    | { name: 'ask'; how: 'stream' | 'dry-run'; request: PollRequest }
    | { name: 'free'; request: { question: string; options?: string[] } }
    | { name: 'result'; id: string }
    | { name: 'history'; limit: number; offset: number }
    | { name: 'help' }
  );

const OPTIONS = {
  option: { type: 'string', multiple: true },
  preset: { type: 'string' },
  threshold: { type: 'string' },
  'max-cost': { type: 'string' },
  free: { type: 'boolean' },
  'dry-run': { type: 'boolean' },
  json: { type: 'boolean' },
  limit: { type: 'string' },
  offset: { type: 'string' },
  url: { type: 'string' },
  key: { type: 'string' },
  session: { type: 'string' },
  help: { type: 'boolean', short: 'h' },
} as const;

const PRESETS: readonly string[] = ['broad', 'fast', 'strong'] satisfies Preset[];
const COMMANDS: readonly string[] = ['ask', 'result', 'history', 'help'];

export function readArguments(argv: readonly string[], env: NodeJS.ProcessEnv): Command {
  const { values, positionals } = parsed(argv);
  const settings: CliSettings = {
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
  const [first] = positionals;
  if (values.help || first === 'help' || (first === undefined && argv.length === 0))
    return { ...settings, name: 'help' };
  const named = first !== undefined && COMMANDS.includes(first);
  const words = named ? positionals.slice(1) : positionals;
  if (first === 'result') return { ...settings, name: 'result', id: only(words, 'result takes one id: result EP-…') };
  if (first === 'history') {
    if (words.length > 0) throw new UsageError('history takes no words; --limit and --offset say which part.');
    return {
      ...settings,
      name: 'history',
      limit: whole('--limit', values.limit, 20, 1, 100),
      offset: whole('--offset', values.offset, 0, 0, 100_000),
    };
  }
  const text = only(words, 'ask takes one text in quotes: ask "Which is larger? [The Sun, The Moon]"');
  return { ...settings, ...askOf(text, values) };
}

type Values = ReturnType<typeof parsed>['values'];

function parsed(argv: readonly string[]) {
  try {
    return parseArgs({ args: [...argv], options: OPTIONS, allowPositionals: true, strict: true });
  } catch (error) {
    // The first sentence of parseArgs' message names the option.
    const [sentence] = error instanceof Error ? error.message.split('. ') : [];
    throw new UsageError(`${(sentence ?? 'The options cannot be read').replace(/\.$/, '')}. See --help.`);
  }
}

function askOf(text: string, values: Values) {
  const { question, options } = pollIn(text, values.option);
  const terms = ['preset', 'threshold', 'max-cost'] as const;
  if (values.free) {
    const extra = terms.find((name) => values[name] !== undefined) ?? (values['dry-run'] ? 'dry-run' : undefined);
    if (extra) throw new UsageError(`--free and --${extra} do not go together: a free poll has terms of its own.`);
    return { name: 'free', request: { question, ...(options && { options }) } } as const;
  }
  if (!options) throw new UsageError('Put the options behind the question: "Which is larger? [The Sun, The Moon]".');
  const { preset, threshold, 'max-cost': maxCost } = values;
  if (preset !== undefined && !PRESETS.includes(preset)) throw new UsageError('--preset is broad, fast or strong.');
  const request: PollRequest = {
    question,
    options,
    ...(preset !== undefined && { preset: preset as Preset }),
    ...(threshold !== undefined && { confidence_threshold: decimal('--threshold', threshold) }),
    ...(maxCost !== undefined && { max_cost_usd: decimal('--max-cost', maxCost) }),
  };
  return { name: 'ask', how: values['dry-run'] ? 'dry-run' : 'stream', request } as const;
}

/** With --option the whole text is the question, including brackets. */
function pollIn(text: string, given: string[] | undefined): { question: string; options: string[] | null } {
  if (given) return { question: text, options: given };
  const short = parseShorthand(text);
  if (short.ok) return short.value;
  throw new UsageError(`The options cannot be read: ${short.issue.detail}.`);
}

function only(words: readonly string[], sentence: string): string {
  const [word] = words;
  if (words.length !== 1 || !word?.trim()) throw new UsageError(`${sentence}.`);
  return word;
}

/** The service checks limits. */
function decimal(name: string, text: string): number {
  const value = /^\d*\.?\d+$/.test(text) ? Number(text) : Number.NaN;
  if (!Number.isFinite(value)) throw new UsageError(`${name} is a number such as 0.5.`);
  return value;
}

function whole(name: string, text: string | undefined, otherwise: number, least: number, most: number): number {
  if (text === undefined) return otherwise;
  const value = /^\d{1,6}$/.test(text) ? Number(text) : Number.NaN;
  if (!(value >= least && value <= most)) throw new UsageError(`${name} is a whole number from ${least} to ${most}.`);
  return value;
}
