import { parseArgs } from 'node:util';
import { OPTIONS } from './command-line.ts';
import { didYouMean } from './did-you-mean.ts';
import { UsageError } from './usage-error.ts';

// Parses the options of a command line, including those that every command accepts.

export interface CliSettings {
  url: string | undefined;
  key: string | undefined;
  session: string | undefined;
  json: boolean;
}

export type Values = ReturnType<typeof parseOptions>['values'];

export function parseOptions(argv: readonly string[]) {
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

export function readSettings(values: Values, env: NodeJS.ProcessEnv): CliSettings {
  // A variable without a value must not select the key of another account.
  const empty = (['key', 'session'] as const).find((name) => values[name]?.trim() === '');
  if (empty) throw new UsageError(`--${empty} is empty.`);
  const settings = {
    url: values.url ?? (env.EP_URL || undefined),
    key: (values.key ?? env.EP_KEY)?.trim() || undefined,
    session: (values.session ?? env.EP_SESSION)?.trim() || undefined,
    json: values.json ?? false,
  };
  if (settings.url !== undefined && !isHttp(settings.url)) {
    throw new UsageError('--url (or EP_URL) must be an address such as https://polls.example.com, without a password.');
  }
  for (const secret of [settings.key, settings.session]) {
    if (secret && !/^[\x21-\x7e]+$/.test(secret))
      throw new UsageError('The key contains characters that API keys never have.');
  }
  return settings;
}

function isHttp(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, username, password } = new URL(text);
  return /^https?:$/.test(protocol) && username === '' && password === '';
}

const ANYWHERE = ['json', 'url', 'key', 'session'] as const;

/** Refuses options that the command does not use, instead of ignoring them silently. */
export function allowOnly(command: string, values: Values, names: readonly (keyof Values)[]): void {
  const allowed: readonly string[] = [...names, ...ANYWHERE];
  const extra = Object.keys(values).find((name) => !allowed.includes(name));
  if (extra === undefined) return;
  const list = names.map((name) => `--${name}`).join(', ');
  throw new UsageError(`${command} has no option --${extra}; it takes ${list || 'none of its own'}.`);
}
