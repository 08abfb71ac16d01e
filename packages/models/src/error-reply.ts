import { isJsonObject, type JsonObject } from '@eloquentpoll/contracts';
import type { CallFailure } from './call-failure.ts';
import { rejectedField } from './rejected-field.ts';

// What a provider's error says, whatever its shape. The text of an error may repeat the prompt or the key: nothing of it
// leaves here.

export interface ErrorReply {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  text: string;
}

/** `sent` are the names of the request's fields. */
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

/** Some providers, and OpenRouter when an upstream fails late, put the error into a reply of status 200. */
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

/** `{ error: {...} }`, in a list at Gemini; xAI has `{ code, error: "text" }`, Mistral the fields at the top. */
function errorIn(body: unknown): JsonObject {
  const top: unknown = Array.isArray(body) ? body[0] : body;
  if (!isJsonObject(top)) return {};
  if (isJsonObject(top.error)) return top.error;
  return typeof top.error === 'string' ? { code: top.code, message: top.error } : top;
}

const MAX_UPSTREAM_CHARACTERS = 100_000;

/** The error of the vendor behind OpenRouter, which passes it on in `metadata.raw`: as JSON in a text, or as a sentence. */
function upstreamError({ metadata }: JsonObject): JsonObject | null {
  const raw = isJsonObject(metadata) ? metadata.raw : null;
  if (isJsonObject(raw)) return errorIn(raw);
  if (typeof raw !== 'string' || raw.length > MAX_UPSTREAM_CHARACTERS) return null;
  const body = parsed(raw);
  return body === null ? { message: raw } : errorIn(body);
}

/** An error that speaks of what was asked or answered; the line is sound. */
function answerIn(status: number, error: JsonObject): CallFailure | null {
  const upstream = upstreamError(error);
  for (const said of upstream ? [error, upstream] : [error]) {
    if (isFilterError(status, said)) return { kind: 'refusal', written: String(said.message).startsWith('Output ') };
    if (UNREADABLE.has(said.code)) return unreadable(said);
  }
  return null;
}

/** Groq puts what the model wrote beside it, or says there that it ran out of tokens, which it would again. */
function unreadable({ message, failed_generation: written = '' }: JsonObject): CallFailure {
  const isCut = [message, written].some((text) => String(text).startsWith('max completion tokens reached'));
  return { kind: 'malformed', repair: !isCut, answerBytes: Buffer.byteLength(String(written)) };
}

/** Groq reads the model's answer itself, and turns away what has not the form that was asked for. */
const UNREADABLE: ReadonlySet<unknown> = new Set(['json_validate_failed', 'tool_use_failed', 'output_parse_failed']);

/** Also as a type, where the code is another or null. */
const FILTER_CODES: ReadonlySet<unknown> = new Set([
  'bio_policy',
  'content_filter',
  'content_policy_violation',
  'cyber_policy',
  'data_inspection_failed',
  'DataInspectionFailed',
  'invalid_prompt',
]);
/** How their messages begin: DeepSeek, xAI, Anthropic, OpenAI. */
const FILTER_SENTENCES = [
  'Content Exists Risk',
  'Content violates usage guidelines',
  'Output blocked by content filtering policy',
  'Invalid prompt: your prompt was flagged',
];

/** Most vendors name the filter in the code or have one sentence for it; OpenRouter lists the reasons of its own. */
function isFilterError(status: number, { code, type, message, metadata }: JsonObject): boolean {
  if (FILTER_CODES.has(code) || FILTER_CODES.has(type)) return true;
  if (typeof message === 'string' && FILTER_SENTENCES.some((sentence) => message.startsWith(sentence))) return true;
  return status === 403 && isJsonObject(metadata) && Array.isArray(metadata.reasons);
}

/** The model, or the `provider` that OpenRouter may choose by: no vendor of the model keeps to it. */
function rejectedByRoute(sent: readonly string[], status: number, error: JsonObject): string | null {
  if (status === 404 && sent.includes('provider') && String(error.message).startsWith('No endpoints '))
    return 'provider';
  return isUnknownModel(status, error) ? 'model' : null;
}

/** The name is wrong, or the model has ended: a 404 at most vendors, a 400 at DeepSeek, OpenRouter and, after its end, Groq. */
function isUnknownModel(status: number, error: JsonObject): boolean {
  const said = [error, upstreamError(error) ?? {}];
  if (said.some(({ code }) => code === 'model_not_found' || code === 'model_decommissioned')) return true;
  const message = String(error.message);
  if (status === 400) return message === 'Model Not Exist' || message.endsWith(' is not a valid model ID');
  // OpenRouter: no vendor may have the request by the settings of our account there.
  if (status !== 404 || message.startsWith('No endpoints found matching')) return false;
  if (message.startsWith('No endpoints found for ')) return true;
  return said.some(({ code, message }) => /model|deployment/i.test(`${String(code)} ${String(message)}`));
}

/** 402 where the account has no credit or has reached its spend limit, 401 for a wrong key: some vendors say 400 or 429. */
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
/** How their messages begin: Anthropic, without credit and at a limit of the account's own; xAI. */
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
