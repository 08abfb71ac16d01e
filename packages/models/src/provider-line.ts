import { isJsonObject, type JsonObject } from '@eloquentpoll/contracts';
import type OpenAI from 'openai';
import { Pool, errors as undiciErrors } from 'undici';
import type { CallFailure } from './call-failure.ts';
import { type Exchanging, exchange } from './exchange.ts';
import type { Provider, Timeouts } from './panel-types.ts';

// One provider's bounded connection pool, so that a provider that hangs blocks no other. Replies are bounded, and only the
// parsed reply of a success leaves here. The openai client itself would cost half as much as the rest of a poll.

const MAX_REPLY_BYTES = 1024 * 1024;
/** Sockets that idle longer are closed; most providers close theirs after a minute. */
const KEEP_ALIVE_MS = 30_000;

type Body = OpenAI.Chat.ChatCompletionCreateParamsNonStreaming;

export type CallResult = { reply: unknown } | { failure: CallFailure };

export interface CallSettings {
  timeouts: Timeouts;
  /** Headers for our own simulator's log. */
  trace: Record<string, string>;
  signal: AbortSignal;
}

export interface ProviderLine {
  complete(body: Body, settings: CallSettings): Promise<CallResult>;
  close(): Promise<void>;
}

export function openProviderLine(
  provider: Provider,
  apiKey: string | null,
  connectMs: number,
  now: () => number = Date.now,
): ProviderLine {
  const base = new URL(provider.baseUrl);
  const path = `${base.pathname.replace(/\/$/, '')}/chat/completions${base.search}`;
  const pool = new Pool(base.origin, {
    connections: provider.connections,
    pipelining: 1,
    keepAliveTimeout: KEEP_ALIVE_MS,
    keepAliveMaxTimeout: KEEP_ALIVE_MS,
    maxResponseSize: MAX_REPLY_BYTES,
    connect: { timeout: connectMs },
  });
  const headers: Record<string, string> = {
    ...provider.headers,
    'content-type': 'application/json',
    accept: 'application/json',
    'user-agent': 'eloquentpoll',
    ...(apiKey === null ? {} : { authorization: `Bearer ${apiKey}` }),
  };

  async function complete(body: Body, { timeouts, trace, signal }: CallSettings): Promise<CallResult> {
    const seen: Exchanging = { answered: false };
    try {
      const request = {
        method: 'POST',
        path,
        headers: { ...headers, ...trace },
        body: JSON.stringify(body),
        headersTimeout: timeouts.first_byte_ms,
        bodyTimeout: timeouts.idle_ms,
      } as const;
      const { status, headers: replied, text } = await exchange(pool, request, signal, seen);
      if (status < 200 || status > 299) {
        // The text of an error may repeat the prompt or the key: it ends here, whatever it says.
        if (isFiltered(status, text)) return { failure: { kind: 'refusal' } };
        return { failure: { kind: 'status', status, retryAfterMs: retryAfterMs(replied, now()) } };
      }
      const reply: unknown = JSON.parse(text);
      const failure = failureInside(reply);
      return failure ? { failure } : { reply };
    } catch (error) {
      return { failure: signal.aborted ? { kind: 'aborted' } : failureOf(error, seen.answered) };
    }
  }

  return { complete, close: () => pool.destroy() };
}

function failureOf(error: unknown, answered: boolean): CallFailure {
  if (error instanceof undiciErrors.HeadersTimeoutError || error instanceof undiciErrors.BodyTimeoutError)
    return { kind: 'timeout' };
  if (answered || error instanceof undiciErrors.ResponseExceededMaxSizeError) return { kind: 'broken' };
  return { kind: 'connect', timedOut: error instanceof undiciErrors.ConnectTimeoutError };
}

/** Some providers, and OpenRouter when an upstream fails late, put the error into a reply of status 200. */
function failureInside(reply: unknown): CallFailure | null {
  if (!isJsonObject(reply)) return { kind: 'broken' };
  if (!isJsonObject(reply.error) || Array.isArray(reply.choices)) return null;
  const { code } = reply.error;
  const status = typeof code === 'number' && code >= 400 && code <= 599 ? code : 502;
  return isFilterError(status, reply.error) ? { kind: 'refusal' } : { kind: 'status', status, retryAfterMs: null };
}

function isFiltered(status: number, text: string): boolean {
  if (status !== 400 && status !== 403) return false;
  try {
    const body: unknown = JSON.parse(text);
    return isJsonObject(body) && isJsonObject(body.error) && isFilterError(status, body.error);
  } catch {
    return false;
  }
}

/** Azure and OpenAI name the filter in the code; OpenRouter's moderation lists its reasons. */
function isFilterError(status: number, error: JsonObject): boolean {
  if (error.code === 'content_filter' || error.code === 'content_policy_violation') return true;
  return status === 403 && isJsonObject(error.metadata) && Array.isArray(error.metadata.reasons);
}

function retryAfterMs(headers: Record<string, string | string[] | undefined>, now: number): number | null {
  const exact = Number(headers['retry-after-ms'] ?? Number.NaN);
  if (exact >= 0) return exact;
  const text = headers['retry-after'];
  if (typeof text !== 'string') return null;
  const ms = /^\d+(\.\d+)?$/.test(text.trim()) ? Number(text) * 1000 : Date.parse(text) - now;
  return Number.isNaN(ms) ? null : Math.max(0, ms);
}
