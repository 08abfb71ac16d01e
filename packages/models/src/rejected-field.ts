import { isJsonObject } from '@eloquentpoll/contracts';
import type { Dialect } from './dialects.ts';

// Finds which field of our request a provider rejected. Returns only names that we sent, because a provider's text may
// repeat the prompt or the key.

const MAX_STRINGS = 64;
const MAX_CHARACTERS = 4_000;

/** The field of `sent` that the error body of a 400 or 422 names. Null if it names none. */
export function rejectedField(sent: readonly string[], status: number, body: unknown): string | null {
  if (status !== 400 && status !== 422) return null;
  const known = new Map(sent.filter((name) => name !== 'messages').map((name) => [plain(name), name]));
  // Anthropic calls it "the effort parameter".
  if (sent.includes('output_config')) known.set('effort', 'output_config');
  const { paths, texts } = stringsOf(body);
  for (const path of paths) {
    const name = known.get(plain(firstPart(path)));
    if (name) return name;
  }
  for (const text of texts) {
    const name = namedIn(text, known);
    if (name) return name;
  }
  return null;
}

/** Makes snake case and camel case names comparable. */
const plain = (name: string): string => name.replaceAll('_', '').toLowerCase();
const firstPart = (path: string): string => path.split(/[.[]/, 1)[0]!;

/**
 * `param` and pydantic's locations name the field exactly. Messages put it in quotes or before a colon. Values that
 * were sent, and what Groq's model wrote, are skipped.
 */
function stringsOf(body: unknown): { paths: string[]; texts: string[] } {
  const paths: string[] = [];
  const texts: string[] = [];
  const waiting: unknown[] = [body];
  for (let seen = 0; waiting.length > 0 && seen < MAX_STRINGS; seen += 1) {
    const value = waiting.shift();
    if (typeof value === 'string') {
      const inner = jsonIn(value);
      if (inner === null) texts.push(value.slice(0, MAX_CHARACTERS));
      else waiting.push(inner);
    } else if (Array.isArray(value)) waiting.push(...(value as unknown[]).slice(0, MAX_STRINGS));
    else if (isJsonObject(value)) {
      const { param, loc, input: _, failed_generation: __, ...rest } = value;
      if (typeof param === 'string') paths.push(param);
      const place: unknown = Array.isArray(loc) ? (loc as unknown[]).find((part) => part !== 'body') : undefined;
      if (typeof place === 'string') paths.push(place);
      waiting.push(...Object.values(rest));
    }
  }
  return { paths, texts };
}

/** Mistral and proxies nest an error body in another as text. */
function jsonIn(text: string): unknown {
  if (!/^\s*[[{]/.test(text)) return null;
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

const NAMED = new RegExp(
  [
    /["'`]([A-Za-z_]{3,40})(?:[.[][^"'`]{0,80})?["'`]/,
    /(?:^|Invalid )([a-z_]{3,40})(?:\.[a-z_.]{1,80})?:/,
    /parameter ([A-Za-z_]{3,40})\b/,
    /\b([a-z_]{3,40})(?= parameter\b| is not supported)/,
  ]
    .map(({ source }) => source)
    .join('|'),
  'g',
);

function namedIn(text: string, known: ReadonlyMap<string, string>): string | null {
  for (const [, ...words] of text.matchAll(NAMED)) {
    const name = known.get(plain(words.find((word) => word !== undefined) ?? ''));
    if (name) return name;
  }
  return null;
}

/** What to change in the roster file so that the field is not sent, or sent differently. */
export function capabilityFor(field: string, { reasoningField }: Dialect): string {
  switch (field) {
    case 'model':
      return '"model" (or "id") of the model: the provider does not know this name';
    case 'max_tokens':
      return '"max_tokens_field": "max_completion_tokens" of the provider, or a smaller "max_output_tokens" of the model';
    case 'max_completion_tokens':
      return '"max_tokens_field": "max_tokens" of the provider, or a smaller "max_output_tokens" of the model';
    case 'temperature':
      return '"temperature": false of the model';
    case 'seed':
    case 'random_seed':
      return '"seed": false of the model, or "seed_field" of the provider';
    case 'user':
    case 'safety_identifier':
    case 'metadata':
      return '"user": false of the model, or "user_field" of the provider';
    case 'response_format':
      return '"answer": "json_object" or "line" of the model';
    case 'tools':
    case 'tool_choice':
      return '"answer": "json_schema" or "line" of the model';
    case 'output_config':
      return '"answer": "tool" or "line" of the model, or its "reasoning": "none"';
    case 'reasoning_effort':
    case 'reasoning':
    case 'thinking':
    case 'chat_template_kwargs':
      return `"reasoning" of the model, or "reasoning_field" (now "${reasoningField}") of the provider`;
    case 'provider':
      return '"price" of the model, which no vendor of it may exceed, its "answer", "seed", "temperature" or "reasoning", its name, "extra_body" of the provider, or the settings of the account there';
    default:
      return '"extra_body" of the provider or the model';
  }
}
