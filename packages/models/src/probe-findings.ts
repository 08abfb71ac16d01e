import { isJsonObject } from '@eloquentpoll/contracts';
import { closest } from './closest.ts';
import { failureOfReply } from './error-reply.ts';
import type { Reply } from './exchange.ts';
import type { Model, Provider } from './panel-types.ts';
import { readAnswer, readUsage } from './read-answer.ts';
import { capabilityFor } from './rejected-field.ts';

export interface ProbeFinding {
  code:
    | 'setting_missing'
    | 'no_answer'
    | 'key_refused'
    | 'model_unknown'
    | 'field_rejected'
    | 'rate_limited'
    | 'no_credit'
    | 'refused'
    | 'error'
    | 'cut'
    | 'form_not_kept'
    | 'no_usage'
    | 'cost_differs';
  says: string;
  /** What to change in the roster file. */
  change?: string;
}

export interface ErrorContext {
  provider: Provider;
  model: Model;
  key: string | null;
  /** Names of the request's fields. */
  sent: readonly string[];
  /** The names of the models that the provider lists. */
  names(): Promise<string[]>;
}

const MAX_WORDS = 240;
const MAX_SLIPS = 8;
/** A smaller difference is rounding. With a larger one, the roster file's prices are outdated. */
const COST_TOLERANCE = 0.1;

export async function findingsOfError(reply: Reply, context: ErrorContext): Promise<ProbeFinding[]> {
  const { provider, model, key, sent } = context;
  const failure = failureOfReply(reply, sent, Date.now());
  const words = withoutKey(wordsOf(reply.text), key);
  if (failure.kind === 'refusal')
    return [{ code: 'refused', says: `the filter refused a harmless question: ${words}` }];
  if (failure.kind === 'malformed') return [formNotKept(model, 'the vendor could not read it')];
  const { status, field } = failure.kind === 'status' ? failure : { status: reply.status, field: null };
  const found = (code: ProbeFinding['code'], says: string, change?: string): ProbeFinding[] => [
    { code, says: `${says} (${reply.status}: ${words})`, ...(change !== undefined && { change }) },
  ];
  if (status === 401 || status === 403 || /api key/i.test(words))
    return found('key_refused', `the key in ${provider.apiKeyEnv ?? 'no setting'} is not accepted`);
  if (status === 402) return found('no_credit', 'the account has no credit, or has reached its limit');
  if (status === 429) return found('rate_limited', 'a rate limit is reached');
  const names = status === 404 || field === 'model' || status === 400 ? await context.names() : [];
  // OpenRouter sends the same error for an unknown name and for a model of which no vendor meets our terms.
  const isRouted = field === 'provider' && (names.length === 0 || names.includes(model.name));
  if (
    (status === 404 && !isRouted) ||
    field === 'model' ||
    (status === 400 && /model/i.test(words) && field === null)
  ) {
    const near = nearest(model.name, names);
    const hint = near === null ? '' : `; did you mean "${near}"?`;
    return found(
      'model_unknown',
      `"${model.name}" is not known${hint}`,
      near === null ? capabilityFor('model', provider.takes) : `"model": "${near}"`,
    );
  }
  if (field !== null) return found('field_rejected', `"${field}" is turned away`, capabilityFor(field, provider.takes));
  return found('error', 'the call failed');
}

/** The most similar name in the list, else one with the same beginning. */
function nearest(name: string, known: readonly string[]): string | null {
  const start = name
    .split(/[-/:.]/, 2)
    .join('-')
    .toLowerCase();
  return (
    closest(name, known, MAX_SLIPS) ??
    known.find((other) => other.toLowerCase().replaceAll(/[/:.]/g, '-').startsWith(start)) ??
    null
  );
}

export function findingsOfReply(
  reply: unknown,
  model: Model,
  labels: readonly string[],
  { saidU, countedU }: { saidU: number | null; countedU: number | null },
): ProbeFinding[] {
  const findings: ProbeFinding[] = [];
  const reading = readAnswer(model, reply, labels);
  if ('error' in reading) findings.push(unread(reply, model, reading.error));
  if (readUsage(reply) === null) {
    const says = 'the reply counts no tokens: bills go by four bytes a token, and costs by what is usual';
    findings.push({ code: 'no_usage', says });
  }
  if (saidU !== null && countedU !== null && Math.abs(saidU - countedU) > Math.max(2, countedU * COST_TOLERANCE))
    findings.push({
      code: 'cost_differs',
      says: `the provider says $${usd(saidU)}, its tokens at the roster's price are $${usd(countedU)}`,
      change: '"price" of the model',
    });
  return findings;
}

function unread(reply: unknown, { answer, maxOutputTokens }: Model, error: string): ProbeFinding {
  const choice: unknown = isJsonObject(reply) && Array.isArray(reply.choices) ? reply.choices[0] : undefined;
  if (error === 'refusal') return { code: 'refused', says: 'the model refused a harmless question' };
  if (isJsonObject(choice) && choice.finish_reason === 'length')
    return {
      code: 'cut',
      says: `the answer was cut off at ${maxOutputTokens} tokens`,
      change: '"max_output_tokens" of the model',
    };
  return formNotKept({ answer }, error);
}

function formNotKept({ answer }: Pick<Model, 'answer'>, why: string): ProbeFinding {
  const others = {
    json_schema: '"json_object" or "line"',
    json_object: '"line"',
    tool: '"json_schema" or "line"',
    line: '"json_schema"',
  };
  return {
    code: 'form_not_kept',
    says: `the answer does not keep to "${answer}" (${why})`,
    change: `"answer": ${others[answer]} of the model`,
  };
}

const usd = (microUsd: number): string => (microUsd / 1_000_000).toFixed(6);

/** The vendor's sentence, or the beginning of its reply. */
function wordsOf(text: string): string {
  const message = /"(?:message|error|msg|detail)"\s*:\s*"((?:[^"\\]|\\.){1,400})"/.exec(text)?.[1] ?? text;
  return message
    .replaceAll(/[\p{Cc}\p{Cf}]+/gu, ' ')
    .trim()
    .slice(0, MAX_WORDS);
}

const MIN_SHARED = 6;

/**
 * Vendors may repeat keys or parts of them, so every word that shares six consecutive characters with the key is
 * removed.
 */
function withoutKey(words: string, key: string | null): string {
  if (key === null) return words;
  const pieces = Array.from({ length: Math.max(1, key.length - MIN_SHARED + 1) }, (_, i) =>
    key.slice(i, i + MIN_SHARED),
  );
  return words
    .split(' ')
    .map((word) => (pieces.some((piece) => word.includes(piece)) ? '[key]' : word))
    .join(' ');
}
