import { isJsonObject, type JsonObject } from '@eloquentpoll/contracts';
import type { CallFailure } from './call-failure.ts';
import { rejectedField } from './rejected-field.ts';

// Interprets a provider's error, whatever its shape. An error's text may repeat the prompt or the key, so no part of it
// leaves this file.

export interface ErrorReply {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  text: string;
}

/** `sent`: the names of the request's fields. */
export function failureOfReply(
  { status, headers, text }: ErrorReply,
  sent: readonly string[],
  now: number,
): CallFailure {
  const body = parsed(text);
  const error = errorIn(body);
  const answered = answerIn(status, error);
  if (answered) return answered;
  const access = accessStatus(status, error);
  if (access !== null) return { kind: 'status', status: access, retryAfterMs: null, field: null };
  const field = rejectedByRoute(sent, status, error) ?? rejectedField(sent, status, body);
  const retryAfterMs = retryAfterIn(headers, now) ?? retryDelayIn(error);
  return { kind: 'status', status, retryAfterMs, field };
}

/** Some providers, and OpenRouter if an upstream fails late, put the error into a reply with status 200. */
export function failureInside(reply: unknown): CallFailure | null {
  if (!isJsonObject(reply)) return { kind: 'broken' };
  if (!isJsonObject(reply.error) || Array.isArray(reply.choices)) return null;
  const { code } = reply.error;
  const status = typeof code === 'number' && code >= 400 && code <= 599 ? code : 502;
  return answerIn(status, reply.error) ?? { kind: 'status', status, retryAfterMs: null, field: null };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/**
 * `{ error: {...} }`; Gemini wraps it in a list, xAI sends `{ code, error: "text" }`, Mistral has the fields at the top
 * level.
 */
function errorIn(body: unknown): JsonObject {
  const top: unknown = Array.isArray(body) ? body[0] : body;
  if (!isJsonObject(top)) return {};
  if (isJsonObject(top.error)) return top.error;
  return typeof top.error === 'string' ? { code: top.code, message: top.error } : top;
}

const MAX_UPSTREAM_CHARACTERS = 100_000;

/** The error of the vendor behind OpenRouter, passed on in `metadata.raw` as JSON text or as a sentence. */
function upstreamError({ metadata }: JsonObject): JsonObject | null {
  const raw = isJsonObject(metadata) ? metadata.raw : null;
  if (isJsonObject(raw)) return errorIn(raw);
  if (typeof raw !== 'string' || raw.length > MAX_UPSTREAM_CHARACTERS) return null;
  const body = parsed(raw);
  return body === null ? { message: raw } : errorIn(body);
}

/** An error about the question or the answer, so the line works. */
function answerIn(status: number, error: JsonObject): CallFailure | null {
  const upstream = upstreamError(error);
  for (const said of upstream ? [error, upstream] : [error]) {
    if (isFilterError(status, said)) return { kind: 'refusal', written: String(said.message).startsWith('Output ') };
    if (UNREADABLE.has(said.code)) return unreadable(said);
  }
  return null;
}

/** Groq adds what the model wrote, or that it ran out of tokens, in which case a repair would fail too. */
function unreadable({ message, failed_generation: written = '' }: JsonObject): CallFailure {
  const isCut = [message, written].some((text) => String(text).startsWith('max completion tokens reached'));
  return { kind: 'malformed', repair: !isCut, answerBytes: Buffer.byteLength(String(written)) };
}

/** Groq parses the model's answer and rejects one without the required form. */
const UNREADABLE: ReadonlySet<unknown> = new Set(['json_validate_failed', 'tool_use_failed', 'output_parse_failed']);

/** Also used as type, if the code is different or null. */
const FILTER_CODES: ReadonlySet<unknown> = new Set([
  'bio_policy',
  'content_filter',
  'content_policy_violation',
  'cyber_policy',
  'data_inspection_failed',
  'DataInspectionFailed',
  'invalid_prompt',
]);
/** Beginnings of the messages of DeepSeek, xAI, Anthropic and OpenAI. */
const FILTER_SENTENCES = [
  'Content Exists Risk',
  'Content violates usage guidelines',
  'Output blocked by content filtering policy',
  'Invalid prompt: your prompt was flagged',
];

/** Most vendors name the filter in the code or have a fixed sentence for it. OpenRouter lists its own reasons. */
function isFilterError(status: number, { code, type, message, metadata }: JsonObject): boolean {
  if (FILTER_CODES.has(code) || FILTER_CODES.has(type)) return true;
  if (typeof message === 'string' && FILTER_SENTENCES.some((sentence) => message.startsWith(sentence))) return true;
  return status === 403 && isJsonObject(metadata) && Array.isArray(metadata.reasons);
}

/** The field to blame: `provider` if no vendor at OpenRouter meets its terms, `model` if the model is unknown. */
function rejectedByRoute(sent: readonly string[], status: number, error: JsonObject): string | null {
  if (status === 404 && sent.includes('provider') && String(error.message).startsWith('No endpoints '))
    return 'provider';
  return isUnknownModel(status, error) ? 'model' : null;
}

/**
 * The name is wrong, or the model was retired: 404 at most vendors, 400 at DeepSeek, OpenRouter and, for retired
 * models, Groq.
 */
function isUnknownModel(status: number, error: JsonObject): boolean {
  const said = [error, upstreamError(error) ?? {}];
  if (said.some(({ code }) => code === 'model_not_found' || code === 'model_decommissioned')) return true;
  const message = String(error.message);
  if (status === 400) return message === 'Model Not Exist' || message.endsWith(' is not a valid model ID');
  // OpenRouter: the settings of our account there exclude every vendor.
  if (status !== 404 || message.startsWith('No endpoints found matching')) return false;
  if (message.startsWith('No endpoints found for ')) return true;
  return said.some(({ code, message }) => /model|deployment/i.test(`${String(code)} ${String(message)}`));
}

/**
 * 402 if the account has no credit or reached its spend limit, 401 for a wrong key. Some vendors send 400 or 429
 * instead.
 */
function accessStatus(status: number, error: JsonObject): number | null {
  if (!ACCESS_STATUSES.has(status)) return null;
  const { code, type, details, message } = error;
  if (status === 429 && (SPENT_CODES.has(code) || SPENT_CODES.has(type))) return 402;
  if (isJsonObject(details) && details.error_code === 'enforced_spend_limit_reached') return 402;
  if (Array.isArray(details) && details.some((detail) => isJsonObject(detail) && detail.reason === 'API_KEY_INVALID'))
    return 401;
  if (typeof message !== 'string') return null;
  if (SPENT_SENTENCES.some((sentence) => sentence.test(message))) return 402;
  return message.startsWith('Incorrect API key provided') ? 401 : null;
}

const ACCESS_STATUSES: ReadonlySet<number> = new Set([400, 403, 429]);
const SPENT_CODES: ReadonlySet<unknown> = new Set(['insufficient_quota', 'billing_not_active']);
/** Beginnings of the messages: Anthropic without credit and at the account's own limit, xAI. */
const SPENT_SENTENCES = [
  /^Your credit balance is too low/,
  /^You have reached your specified (workspace )?API usage limits/,
  /^Your team \S{1,64} has (either )?used all available credits/,
];

function retryAfterIn(headers: ErrorReply['headers'], now: number): number | null {
  const exact = Number(headers['retry-after-ms'] ?? Number.NaN);
  if (exact >= 0) return exact;
  const text = headers['retry-after'];
  if (typeof text !== 'string') return null;
  const ms = /^\d+(\.\d+)?$/.test(text.trim()) ? Number(text) * 1000 : Date.parse(text) - now;
  return Number.isNaN(ms) ? null : Math.max(0, ms);
}

/** Google's `RetryInfo`: `{ retryDelay: "17s" }`. */
function retryDelayIn({ details }: JsonObject): number | null {
  if (!Array.isArray(details)) return null;
  for (const detail of details) {
    const delay = isJsonObject(detail) ? detail.retryDelay : undefined;
    if (typeof delay === 'string' && /^\d{1,6}(\.\d{1,9})?s$/.test(delay)) return Number(delay.slice(0, -1)) * 1000;
  }
  return null;
}
