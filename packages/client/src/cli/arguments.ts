import { LIMITS } from '@eloquentpoll/contracts/limits';
import type { PollListQuery } from '../eloquentpoll.ts';
import { COMMANDS, isCommand, SHELLS } from './command-line.ts';
import { didYouMean } from './did-you-mean.ts';
import { allowOnly, type CliSettings, parseOptions, readSettings, type Values } from './options.ts';
import { type BatchCommand, readBatch, readBatches } from './read-batch-terms.ts';
import { type KeysCommand, readKeys } from './read-key-terms.ts';
import { whole } from './read-numbers.ts';
import { type AskCommand, readAsk, readPollQuery } from './read-poll-terms.ts';
import { readUsage, type UsageCommand } from './read-usage-terms.ts';
import { UsageError } from './usage-error.ts';
import { none, oneOf, only } from './words.ts';

// Parses the command line. An invalid one throws a UsageError that explains what to write.

export type Command =
  | AskCommand
  | BatchCommand
  | KeysCommand
  | UsageCommand
  | { name: 'result' | 'open' | 'cancel'; id: string }
  | { name: 'watch'; ids: string[] }
  | { name: 'export'; out: string }
  | { name: 'delete'; id: string; yes: boolean }
  | { name: 'verify'; what: string; keys: string | undefined; days: string | undefined }
  | { name: 'polls'; query: PollListQuery }
  | { name: 'history'; limit: number; offset: number }
  | { name: 'login'; browser: boolean }
  | { name: 'completion'; shell: (typeof SHELLS)[number] }
  | { name: 'balance' | 'logout' }
  | { name: 'help' | 'version' };

export function readArguments(argv: readonly string[], env: NodeJS.ProcessEnv): Command & CliSettings {
  const { values, positionals } = parseOptions(argv);
  return { ...readSettings(values, env), ...readCommand(values, positionals) };
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
    case 'watch':
      allowOnly('watch', values, []);
      return { name: 'watch', ids: readIds(words) };
    case 'result':
    case 'open':
      allowOnly(first, values, []);
      return { name: first, id: only(words, `${first} takes one id: ${first} EP-…`) };
    case 'cancel':
      allowOnly('cancel', values, []);
      return { name: first, id: readRunning(words) };
    case 'batch':
    case 'eval':
      return readBatch(first, words, values);
    case 'batches':
      return readBatches(words, values);
    case 'export':
      none(words, 'export takes no further words; --out FILE names the file.');
      allowOnly('export', values, ['out']);
      return { name: 'export', out: values.out ?? '-' };
    case 'delete':
      allowOnly('delete', values, ['yes']);
      return { name: 'delete', id: readDeletable(words), yes: values.yes ?? false };
    case 'verify':
      allowOnly('verify', values, ['keys', 'days']);
      return {
        name: first,
        what: only(words, 'verify takes one id or file: verify EP-…'),
        keys: values.keys,
        days: values.days,
      };
    case 'polls':
      none(
        words,
        'polls takes no further words; choose polls with --status, --close, --metadata, --preset, --limit and --after.',
      );
      allowOnly('polls', values, ['status', 'close', 'metadata', 'preset', 'limit', 'after']);
      return { name: 'polls', query: readPollQuery(values) };
    case 'history':
      none(words, 'history takes no further words; choose a part with --limit and --offset.');
      allowOnly('history', values, ['limit', 'offset']);
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
      return readKeys(words, values);
    case 'usage':
      return readUsage(words, values);
    case 'login':
      none(words, 'login takes no further words.');
      allowOnly('login', values, ['no-browser']);
      return { name: 'login', browser: values['no-browser'] !== true };
    case 'completion': {
      allowOnly('completion', values, []);
      const shell = oneOf('shell', only(words, 'completion takes one shell: bash, zsh or fish'), SHELLS);
      return { name: 'completion', shell };
    }
    case 'balance':
    case 'logout':
    case 'help':
      none(words, `${first} takes no further words.`);
      allowOnly(first, values, []);
      return { name: first };
  }
}

/** The id of a result, which the output shows most, names a poll that has ended. */
function readRunning(words: readonly string[]): string {
  const id = only(words, 'cancel takes one id: ps_… of a poll or pb_… of a batch');
  if (!/^(ps_|pb_)/.test(id))
    throw new UsageError(`cancel takes ps_… or pb_…, which polls and batches list, not ${id}.`);
  return id;
}

function readDeletable(words: readonly string[]): string {
  const id = only(words, 'delete takes one id: EP-… or ps_… of a poll, pb_… of a batch');
  if (!/^(EP-|ps_|pb_)/.test(id)) throw new UsageError(`delete takes EP-…, ps_… or pb_…, not ${id}.`);
  return id;
}

/** Removes duplicates. */
function readIds(words: readonly string[]): string[] {
  const unknown = words.find((word) => !/^(ps_|pb_|EP-)/.test(word));
  if (unknown !== undefined) throw new UsageError(`watch takes ids (ps_…, or one pb_…), not ${unknown}.`);
  if (words.length > 1 && words.some((word) => word.startsWith('pb_'))) {
    throw new UsageError('watch follows one batch (pb_…) at a time.');
  }
  return [...new Set(words)];
}

/** A single word is a mistyped command, not a question. */
function refuseUnknownCommand(positionals: readonly string[]): void {
  const [first = ''] = positionals;
  if (!/^[\w-]+$/.test(first)) return;
  const meant = didYouMean(first, Object.keys(COMMANDS));
  if (meant || positionals.length === 1) throw new UsageError(`Unknown command ${first}.${meant || ' See --help.'}`);
}
