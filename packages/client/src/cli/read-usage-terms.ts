import type { UsageQuery } from '../eloquentpoll.ts';
import { PRESETS } from './command-line.ts';
import { didYouMean } from './did-you-mean.ts';
import { allowOnly, type Values } from './options.ts';
import { isDay } from './read-numbers.ts';
import { UsageError } from './usage-error.ts';
import { none, oneOf } from './words.ts';

export interface UsageCommand {
  name: 'usage';
  query: UsageQuery;
}

const GROUPS = ['day', 'key', 'preset', 'surface'];

export function readUsage(words: readonly string[], values: Values): UsageCommand {
  none(words, 'usage takes no further words; choose with --by, --from, --to and --preset.');
  allowOnly('usage', values, ['by', 'from', 'to', 'preset']);
  const { by, from, to, preset } = values;
  if (by !== undefined && !GROUPS.includes(by) && !/^metadata\../.test(by)) {
    const meant = didYouMean(by, [...GROUPS, 'metadata.']);
    throw new UsageError(`--by must be ${GROUPS.join(', ')} or metadata.NAME, not ${by}.${meant}`);
  }
  const query: UsageQuery = {
    ...(by !== undefined && { group_by: by }),
    ...(from !== undefined && { from: day('--from', from) }),
    ...(to !== undefined && { to: day('--to', to) }),
    ...(preset !== undefined && { preset: oneOf('preset', preset, PRESETS) }),
  };
  return { name: 'usage', query };
}

function day(name: string, text: string): string {
  if (/^\d{4}-\d\d-\d\d$/.test(text) && isDay(text)) return text;
  throw new UsageError(`${name} must be a day such as 2026-11-20, not ${text}.`);
}
