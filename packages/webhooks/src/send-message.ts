import { request as httpRequest, type IncomingMessage, type RequestOptions } from 'node:http';
import { Agent, request as httpsRequest } from 'node:https';
import type { LookupFunction } from 'node:net';
import type { WebhookError } from '@eloquentpoll/contracts';
import { type ReceiverRules, urlProblem } from './receiver-rules.ts';
import { type Address, type NameResolver, resolveReceiver, systemResolver, Unsendable } from './resolve-receiver.ts';

/** From the start of name resolution to the end of the response. */
export const SEND_TIMEOUT_MS = 15_000;
const MAX_HEADER_BYTES = 16_384;
/** A receiver's response is not used. After this many bytes the connection is cut. */
const MAX_ANSWER_BYTES = 65_536;
const MAX_DISCARD_MS = 1_000;

export interface Message {
  url: string;
  headers: Record<string, string>;
  body: string;
}

export interface SendOutcome {
  /** Null without a response; then `error` has the reason. */
  status: number | null;
  error: WebhookError | null;
  retryAfterMs: number;
  tookMs: number;
}

export type MessageSender = (message: Message, signal: AbortSignal) => Promise<SendOutcome>;

export interface SenderOptions {
  rules: ReceiverRules;
  resolve?: NameResolver;
  timeoutMs?: number;
  /** Certificate authorities that are trusted in addition to the system's. */
  ca?: string;
}

/** Never rejects, whatever the receiver does. */
export function messageSender({
  rules,
  resolve = systemResolver(),
  timeoutMs = SEND_TIMEOUT_MS,
  ca,
}: SenderOptions): MessageSender {
  // One connection per message, so that no response can be taken for another's. TLS sessions are resumed.
  const agent = new Agent({ keepAlive: false, maxCachedSessions: 1_000 });
  return async (message, signal) => {
    const began = performance.now();
    const ended = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
    const tookMs = () => Math.round(performance.now() - began);
    try {
      const problem = urlProblem(message.url, rules);
      if (problem) throw new Unsendable('address_refused');
      const url = new URL(message.url);
      const addresses = await withinTime(resolveReceiver(url, rules, resolve), ended);
      const options = { ...(ca && { ca }), agent: url.protocol === 'https:' ? agent : false };
      const answer = await withinTime(
        post(url, message, { ...options, lookup: answering(addresses), signal: ended }),
        ended,
      );
      return { ...answer, error: null, tookMs: tookMs() };
    } catch (error) {
      return { status: null, error: errorOf(error, ended), retryAfterMs: 0, tookMs: tookMs() };
    }
  };
}

/** Replaces the resolver, and returns only the checked addresses. */
const answering =
  (addresses: readonly Address[]): LookupFunction =>
  (_host, { all }, done) => {
    if (all) done(null, [...addresses]);
    else done(null, addresses[0]!.address, addresses[0]!.family);
  };

function post(
  url: URL,
  { headers, body }: Message,
  options: RequestOptions & { ca?: string },
): Promise<Pick<SendOutcome, 'status' | 'retryAfterMs'>> {
  return new Promise((resolve, reject) => {
    const request = (url.protocol === 'https:' ? httpsRequest : httpRequest)(url, {
      ...options,
      method: 'POST',
      maxHeaderSize: MAX_HEADER_BYTES,
      headers: {
        'content-type': 'application/json',
        'content-length': Buffer.byteLength(body),
        'user-agent': 'EloquentPoll-Webhooks/1.0',
        connection: 'close',
        ...headers,
      },
      ...(url.protocol === 'https:' && { rejectUnauthorized: true }),
    });
    const answered = (answer: IncomingMessage) =>
      resolve({ status: answer.statusCode ?? 0, retryAfterMs: retryAfterOf(answer) });
    request.on('error', reject);
    request.on('response', (answer) => {
      answered(answer);
      discard(answer);
    });
    // A 101 emits no 'response' event. Without this listener, the request would end without any event.
    request.on('upgrade', (answer, socket) => {
      answered(answer);
      socket.destroy();
    });
    request.end(body);
  });
}

/**
 * Only the status matters. The body is read for a moment, so that a well-behaved receiver does not see a broken
 * connection.
 */
function discard(answer: IncomingMessage): void {
  let left = MAX_ANSWER_BYTES;
  const cut = () => answer.destroy();
  const timer = setTimeout(cut, MAX_DISCARD_MS);
  answer.on('data', (chunk: Buffer) => {
    left -= chunk.length;
    if (left <= 0) cut();
  });
  answer.on('error', () => {});
  answer.on('close', () => clearTimeout(timer));
}

const retryAfterOf = ({ headers }: IncomingMessage): number => {
  const text = headers['retry-after'] ?? '';
  return /^\d{1,6}$/.test(text) ? Number(text) * 1_000 : 0;
};

/** Rejects in time even if the work continues, because name resolution cannot be aborted. */
function withinTime<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const onAbort = () => reject(new Unsendable('timed_out'));
    if (signal.aborted) onAbort();
    signal.addEventListener('abort', onAbort, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort));
  });
}

const TLS = /^(ERR_TLS|ERR_SSL|CERT_|UNABLE_TO|DEPTH_ZERO|SELF_SIGNED|EPROTO)/;

function errorOf(error: unknown, ended: AbortSignal): WebhookError {
  if (error instanceof Unsendable) return error.reason;
  if (ended.aborted) return 'timed_out';
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  if (TLS.test(code)) return 'tls_failed';
  return code.startsWith('HPE_') ? 'bad_answer' : 'connection_failed';
}
