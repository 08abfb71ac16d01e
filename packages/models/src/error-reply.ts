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
  if (isFilterError(status, error)) return { kind: 'refusal' };
  const field = rejectedField(sent, status, body);
  const retryAfterMs = retryAfterIn(headers, now) ?? retryDelayIn(error);
  return { kind: 'status', status: isSpent(status, error) ? 402 : status, retryAfterMs, field };
}

/** Some providers, and OpenRouter when an upstream fails late, put the error into a reply of status 200. */
export function failureInside(reply: unknown): CallFailure | null {
  if (!isJsonObject(reply)) return { kind: 'broken' };
  if (!isJsonObject(reply.error) || Array.isArray(reply.choices)) return null;
  const { code } = reply.error;
  const status = typeof code === 'number' && code >= 400 && code <= 599 ? code : 502;
  return isFilterError(status, reply.error)
    ? { kind: 'refusal' }
    : { kind: 'status', status, retryAfterMs: null, field: null };
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

/** Azure and OpenAI name the filter in the code, OpenRouter lists its reasons, DeepSeek and xAI have one sentence. */
function isFilterError(status: number, { code, message, metadata }: JsonObject): boolean {
  if (status !== 400 && status !== 403) return false;
  if (code === 'content_filter' || code === 'content_policy_violation') return true;
  if (status === 400) return message === 'Content Exists Risk';
  if (typeof message === 'string' && message.startsWith('Content violates usage guidelines')) return true;
  return isJsonObject(metadata) && Array.isArray(metadata.reasons);
}

/** A 429 that no waiting helps: the account has no credit, or has reached its spend limit. */
function isSpent(status: number, { code, details }: JsonObject): boolean {
  if (status !== 429) return false;
  return (
    code === 'insufficient_quota' || (isJsonObject(details) && details.error_code === 'enforced_spend_limit_reached')
  );
}

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
