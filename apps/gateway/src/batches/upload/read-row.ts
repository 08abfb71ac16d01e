import { type BatchRowError, type BatchTerms, isJsonObject, LIMITS } from '@eloquentpoll/contracts';
import type { PollOrder } from '@eloquentpoll/polls';
import type { NewBatchRow } from '@eloquentpoll/storage';
import { ApiError } from '../../http/api-error.ts';
import { uncleanIn } from '../../http/validation/text-rules.ts';
import type { PollsContext } from '../../polls/context.ts';
import { readSessionOrder } from '../../polls/order/session-order.ts';
import type { RawRow } from './raw-row.ts';

// Checks a row like the body of POST /api/polls; errors name its line.

export type ReadRow = { row: NewBatchRow } | { errors: BatchRowError[] };

/** `choose` is chooseModels for the account. */
export async function readRow(
  context: Pick<PollsContext, 'webhooks'>,
  raw: RawRow,
  terms: BatchTerms,
  choose: (order: PollOrder) => Promise<PollOrder>,
): Promise<ReadRow> {
  const { line } = raw;
  if ('problem' in raw) return { errors: [{ line, custom_id: null, field: null, message: `the line ${raw.problem}` }] };
  if (!isJsonObject(raw.value))
    return { errors: [{ line, custom_id: null, field: null, message: 'the row must be an object' }] };
  const { custom_id: given, gold, ...request } = raw.value;
  const custom_id = typeof given === 'string' ? shown(given) : null;
  const error = (field: string | null, message: string): BatchRowError => ({ line, custom_id, field, message });
  const unclean = uncleanIn(raw.value);
  if (unclean) return { errors: [error(fieldOf(unclean.pointer), unclean.detail)] };

  const own: BatchRowError[] = [];
  if (given !== undefined && !isCustomId(given)) own.push(error('custom_id', CUSTOM_ID));
  if (gold !== undefined && gold !== null && !isOneOf(request.options, gold))
    own.push(error('gold', 'gold must be the text of one of the options'));
  if (request.service_tier !== undefined && request.service_tier !== 'flex')
    own.push(error('service_tier', 'service_tier of a batch is flex'));
  try {
    const body = { ...defaultsFor(request, terms), ...request, service_tier: 'flex' };
    const order = await choose(readSessionOrder(context, body));
    if (own.length > 0) return { errors: own };
    const customId = custom_id ?? String(line);
    return { row: { line, customId, order, gold: typeof gold === 'string' ? gold : null } };
  } catch (cause) {
    return { errors: [...own, ...errorsOf(cause).map(({ field, message }) => error(field, message))] };
  }
}

const CUSTOM_ID = `custom_id must be a text of 1 to ${LIMITS.batch.custom_id} characters, without control characters`;

const isCustomId = (value: unknown): boolean =>
  typeof value === 'string' && /^[^\p{Cc}]+$/u.test(value) && value.length <= LIMITS.batch.custom_id;

/** The custom_id as stored errors show it; a valid one is unchanged. */
const shown = (customId: string): string =>
  customId.slice(0, LIMITS.batch.custom_id).replaceAll('\0', '\uFFFD').toWellFormed();

const isOneOf = (options: unknown, text: unknown): boolean => Array.isArray(options) && options.includes(text);

/** The batch's terms for fields that the row does not set. */
function defaultsFor(request: Record<string, unknown>, { preset, confidence_threshold, reasons }: BatchTerms): object {
  const namesPanel = ['preset', 'models', 'panel', 'profile'].some((field) => request[field] !== undefined);
  return {
    ...(preset !== undefined && !namesPanel && { preset }),
    ...(confidence_threshold !== undefined && { confidence_threshold }),
    ...(reasons !== undefined && { reasons }),
  };
}

function errorsOf(cause: unknown): Pick<BatchRowError, 'field' | 'message'>[] {
  if (!(cause instanceof ApiError) || cause.code === 'service_unavailable') throw cause;
  const { issues, detail } = cause.circumstances;
  if (!issues?.length) return [{ field: null, message: detail ?? cause.message }];
  return issues.map((issue) => ({ field: fieldOf(issue.pointer), message: issue.detail }));
}

/** `#/options/1` becomes `options[1]`. */
function fieldOf(pointer: string): string | null {
  const [, name, ...steps] = pointer.split('/').map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'));
  if (name === undefined || name === '') return null;
  return name + steps.map((step) => (/^\d+$/.test(step) ? `[${step}]` : `.${step}`)).join('');
}
