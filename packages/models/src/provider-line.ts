import OpenAI from 'openai';
import { Pool, errors as undiciErrors } from 'undici';
import { BufferedResponse } from './buffered-response.ts';
import type { CallFailure } from './call-failure.ts';
import { isObject, type Json } from './json.ts';
import type { Provider, Timeouts } from './roster-types.ts';

// The line to one provider: the openai client over a bounded undici pool of its own, so that a provider that hangs holds
// up nobody else. Replies are buffered and bounded. The key is added below the client, so no error or log of the client
// can hold it, and nothing a provider writes leaves here but the parsed reply of a success.

const MAX_REPLY_BYTES = 1024 * 1024;
/** Sockets that idle longer are closed; most providers close theirs after a minute. */
const KEEP_ALIVE_MS = 30_000;

export type CallResult = { reply: unknown } | { failure: CallFailure };

export interface CallSettings {
  timeouts: Timeouts;
  /** Headers for our own simulator's log. */
  trace: Record<string, string>;
  signal: AbortSignal;
}

export interface ProviderLine {
  complete(body: OpenAI.Chat.ChatCompletionCreateParamsNonStreaming, settings: CallSettings): Promise<CallResult>;
  close(): Promise<void>;
}

/** What the transport is told about one call, and what it saw of it. It travels through the client in the fetch options. */
interface CallInit extends RequestInit {
  call?: { settings: CallSettings; failure: CallFailure | null };
}

export function openProviderLine(
  provider: Provider,
  apiKey: string | null,
  connectMs: number,
  now: () => number = Date.now,
): ProviderLine {
  const base = new URL(provider.baseUrl);
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

  async function send(input: string | URL | Request, init: CallInit = {}): Promise<Response> {
    const { call } = init;
    if (!call || typeof init.body !== 'string') throw new TypeError('Only ballots are sent on this line');
    const url = String(input);
    let answered = false;
    try {
      const response = await pool.request({
        method: 'POST',
        path: url.slice(base.origin.length),
        headers: { ...headers, ...call.settings.trace },
        body: init.body,
        signal: init.signal ?? null,
        headersTimeout: call.settings.timeouts.first_byte_ms,
        bodyTimeout: call.settings.timeouts.idle_ms,
      });
      answered = true;
      const { statusCode } = response;
      if (statusCode < 200 || statusCode > 299) {
        call.failure = { kind: 'status', status: statusCode, retryAfterMs: retryAfterMs(response.headers, now()) };
        // The text of an error may repeat the prompt or the key: it ends here, whatever it says.
        if (isFiltered(statusCode, await response.body.text())) call.failure = { kind: 'refusal' };
        return new BufferedResponse(url, statusCode, '');
      }
      const text = await response.body.text();
      return new BufferedResponse(url, statusCode, text);
    } catch (error) {
      call.failure ??= failureOf(error, answered);
      throw error;
    }
  }

  const client = new OpenAI({
    apiKey: 'added by the transport',
    adminAPIKey: null,
    organization: null,
    project: null,
    webhookSecret: null,
    baseURL: provider.baseUrl,
    fetch: send,
    maxRetries: 0,
    logLevel: 'off',
  });

  return {
    async complete(body, settings) {
      const call: NonNullable<CallInit['call']> = { settings, failure: null };
      const fetchOptions = { redirect: 'error' as const, call };
      try {
        const reply: unknown = await client.chat.completions.create(body, {
          signal: settings.signal,
          timeout: settings.timeouts.total_ms + 1000,
          fetchOptions,
        });
        const failure = failureInside(reply);
        return failure ? { failure } : { reply };
      } catch {
        if (settings.signal.aborted) return { failure: { kind: 'aborted' } };
        return { failure: call.failure ?? { kind: 'broken' } };
      }
    },
    close: () => pool.destroy(),
  };
}

function failureOf(error: unknown, answered: boolean): CallFailure {
  if (error instanceof undiciErrors.HeadersTimeoutError || error instanceof undiciErrors.BodyTimeoutError)
    return { kind: 'timeout' };
  if (answered || error instanceof undiciErrors.ResponseExceededMaxSizeError) return { kind: 'broken' };
  return { kind: 'connect', timedOut: error instanceof undiciErrors.ConnectTimeoutError };
}

/** Some providers, and OpenRouter when an upstream fails late, put the error into a reply of status 200. */
function failureInside(reply: unknown): CallFailure | null {
  if (!isObject(reply)) return { kind: 'broken' };
  if (!isObject(reply.error) || Array.isArray(reply.choices)) return null;
  const { code } = reply.error;
  const status = typeof code === 'number' && code >= 400 && code <= 599 ? code : 502;
  return isFilterError(status, reply.error) ? { kind: 'refusal' } : { kind: 'status', status, retryAfterMs: null };
}

function isFiltered(status: number, text: string): boolean {
  if (status !== 400 && status !== 403) return false;
  try {
    const body: unknown = JSON.parse(text);
    return isObject(body) && isObject(body.error) && isFilterError(status, body.error);
  } catch {
    return false;
  }
}

/** Azure and OpenAI name the filter in the code; OpenRouter's moderation lists its reasons. */
function isFilterError(status: number, error: Json): boolean {
  if (error.code === 'content_filter' || error.code === 'content_policy_violation') return true;
  return status === 403 && isObject(error.metadata) && Array.isArray(error.metadata.reasons);
}

function retryAfterMs(headers: Record<string, string | string[] | undefined>, now: number): number | null {
  const exact = Number(headers['retry-after-ms'] ?? Number.NaN);
  if (exact >= 0) return exact;
  const text = headers['retry-after'];
  if (typeof text !== 'string') return null;
  const ms = /^\d+(\.\d+)?$/.test(text.trim()) ? Number(text) * 1000 : Date.parse(text) - now;
  return Number.isNaN(ms) ? null : Math.max(0, ms);
}
