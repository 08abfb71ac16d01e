import { Pool, errors as undiciErrors } from 'undici';
import type { CallFailure } from './call-failure.ts';
import { failureInside, failureOfReply } from './error-reply.ts';
import { type Exchanging, exchange } from './exchange.ts';
import { fromMessagesReply } from './messages-api.ts';
import type { Provider, Timeouts } from './panel-types.ts';
import { headersOf, PATHS } from './provider-call.ts';

// One provider's bounded connection pool, so that a provider that hangs blocks no other. Replies are bounded too.
// Without the openai client, which alone would cost half as much CPU time as the rest of a poll.

const MAX_REPLY_BYTES = 1024 * 1024;
/** Idle sockets are closed after this time. Most providers close theirs after a minute. */
const KEEP_ALIVE_MS = 30_000;
/** If a connection is cut this soon, the provider was just closing it, and no model has worked on the call. */
const CLOSING_MS = 100;

export type CallResult = { reply: unknown } | { failure: CallFailure };

export interface CallSettings {
  timeouts: Timeouts;
  /** Headers for our own simulator's log. */
  trace: Record<string, string>;
  signal: AbortSignal;
  /** Called when the request has a connection, before anything is written. */
  onStart(): void;
}

export interface ProviderLine {
  complete(body: Record<string, unknown>, settings: CallSettings): Promise<CallResult>;
  close(): Promise<void>;
}

export function openProviderLine(
  provider: Provider,
  address: string,
  apiKey: string | null,
  connectMs: number,
  now: () => number,
): ProviderLine {
  const base = new URL(address);
  const { api } = provider.takes;
  const path = `${base.pathname.replace(/\/$/, '')}${PATHS[api]}${base.search}`;
  const pool = new Pool(base.origin, {
    connections: provider.connections,
    pipelining: 1,
    keepAliveTimeout: KEEP_ALIVE_MS,
    keepAliveMaxTimeout: KEEP_ALIVE_MS,
    maxResponseSize: MAX_REPLY_BYTES,
    connect: { timeout: connectMs },
  });
  const headers = headersOf(provider, apiKey);

  async function complete(
    body: Record<string, unknown>,
    { timeouts, trace, signal, onStart }: CallSettings,
  ): Promise<CallResult> {
    const seen: Exchanging = { now, startedAt: null, onStart, answered: false };
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
      if (status < 200 || status > 299)
        return { failure: failureOfReply({ status, headers: replied, text }, Object.keys(body), Date.now()) };
      const raw: unknown = JSON.parse(text);
      const reply = api === 'messages' ? fromMessagesReply(raw) : raw;
      const failure = failureInside(reply);
      return failure ? { failure } : { reply };
    } catch (error) {
      return { failure: signal.aborted ? { kind: 'aborted' } : failureOf(error, seen) };
    }
  }

  return { complete, close: () => pool.destroy() };
}

function failureOf(error: unknown, { answered, startedAt, now }: Exchanging): CallFailure {
  if (error instanceof undiciErrors.HeadersTimeoutError || error instanceof undiciErrors.BodyTimeoutError)
    return { kind: 'timeout' };
  if (error instanceof SyntaxError || error instanceof undiciErrors.ResponseExceededMaxSizeError)
    return { kind: 'broken' };
  if (answered || (startedAt !== null && now() - startedAt >= CLOSING_MS)) return { kind: 'cut' };
  return { kind: 'connect', timedOut: error instanceof undiciErrors.ConnectTimeoutError };
}
