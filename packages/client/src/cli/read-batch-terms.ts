import { LIMITS } from '@eloquentpoll/contracts/limits';
import type { BatchListQuery, BatchTerms } from '../eloquentpoll.ts';
import { BATCH_STATUSES, PRESETS } from './command-line.ts';
import { allowOnly, type Values } from './options.ts';
import { dollars, threshold, whole } from './read-numbers.ts';
import { pairs } from './read-poll-terms.ts';
import { UsageError } from './usage-error.ts';
import { none, oneOf, only } from './words.ts';

/** The source of a batch: a file, `-` for standard input, or an existing batch. */
export type BatchSource = { kind: 'file'; file: string; format: 'jsonl' | 'csv' } | { kind: 'batch'; id: string };

export type BatchCommand =
  | {
      name: 'batch' | 'eval';
      source: BatchSource;
      terms: BatchTerms;
      /** `-`: standard output. Null: a file next to the rows. */
      out: string | null;
      /** Ask again what was asked before. */
      again: boolean;
      /** Submit without waiting for the end. */
      detach: boolean;
      /** Do not ask whether to go on. */
      yes: boolean;
    }
  | { name: 'batches'; query: BatchListQuery };

const MAKING = ['preset', 'threshold', 'reasons', 'max-cost', 'metadata', 'skip-invalid', 'format', 'again'] as const;
const FOLLOWING = ['out', 'detach'] as const;

export function readBatch(name: 'batch' | 'eval', words: readonly string[], values: Values): BatchCommand {
  const text = only(words, `${name} takes one file of rows (JSON lines or CSV), - for standard input, or pb_…`);
  const isBatch = text.startsWith('pb_');
  const own = name === 'eval' ? (['yes'] as const) : [];
  allowOnly(isBatch ? `${name} pb_…` : name, values, [...(isBatch ? [] : MAKING), ...FOLLOWING, ...own]);
  const source: BatchSource = isBatch
    ? { kind: 'batch', id: text }
    : { kind: 'file', file: text, format: formatOf(text, values.format) };
  return {
    name,
    source,
    terms: readTerms(values),
    out: values.out ?? null,
    again: values.again ?? false,
    detach: values.detach ?? false,
    yes: values.yes ?? false,
  };
}

function formatOf(file: string, named: string | undefined): 'jsonl' | 'csv' {
  if (named !== undefined) return oneOf('format', named, ['jsonl', 'csv']);
  if (/\.(jsonl|ndjson)$/i.test(file)) return 'jsonl';
  if (/\.csv$/i.test(file)) return 'csv';
  throw new UsageError(
    `The format of ${file === '-' ? 'the input' : file} is not known: add --format jsonl or --format csv.`,
  );
}

const readTerms = (values: Values): BatchTerms => ({
  ...(values.preset !== undefined && { preset: oneOf('preset', values.preset, PRESETS) }),
  ...(values.threshold !== undefined && { confidence_threshold: threshold(values.threshold) }),
  ...(values.reasons && { reasons: true }),
  ...(values['max-cost'] !== undefined && { max_cost_usd: dollars(values['max-cost'], 1_000_000) }),
  ...(values.metadata && { metadata: pairs(values.metadata) }),
  ...(values['skip-invalid'] && { skip_invalid: true }),
});

export function readBatches(words: readonly string[], values: Values): BatchCommand {
  none(words, 'batches takes no further words; choose batches with --status, --limit and --after.');
  allowOnly('batches', values, ['status', 'limit', 'after']);
  const { default: otherwise, max: most } = LIMITS.batch.list;
  const query: BatchListQuery = {
    limit: whole('--limit', values.limit, { least: 1, most, otherwise }),
    ...(values.after !== undefined && { after: values.after }),
    ...(values.status !== undefined && { status: oneOf('status', values.status, BATCH_STATUSES) }),
  };
  return { name: 'batches', query };
}
