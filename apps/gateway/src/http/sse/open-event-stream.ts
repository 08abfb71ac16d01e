import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ApiError } from '../api-error.ts';
import { recordAnswer } from '../hooks/access-log.ts';
import { setBudgetHeaders } from '../hooks/rate-limit.ts';
import type { EventStream } from './event-stream.ts';
import type { StreamWheel } from './stream-wheel.ts';

const HEADERS = {
  'content-type': 'text/event-stream',
  // Keeps proxies from caching, compressing or buffering the stream.
  'cache-control': 'no-cache, no-transform',
  'x-accel-buffering': 'no',
};

/** Refuses a caller whose Accept header excludes a stream. Naming an error type alone does not exclude it. */
export function requireEventStream({ headers }: FastifyRequest): void {
  const ranges = (headers.accept ?? '')
    .split(',')
    .map((range) => range.trim().toLowerCase())
    .filter((range) => range !== '' && !range.startsWith('application/problem+json'));
  const admitted = ranges.some((range) => ADMITS.test(range) && !/;\s*q=0(\.0*)?\s*(;|$)/.test(range));
  if (ranges.length > 0 && !admitted) {
    throw new ApiError('not_acceptable', { detail: 'This operation answers with text/event-stream.' });
  }
}

/** For operations with both forms: the caller names event streams and not JSON. */
export const prefersEventStream = ({ headers: { accept = '' } }: FastifyRequest): boolean =>
  /(^|,)\s*text\/event-stream\s*(,|$)/i.test(accept) && !/application\/json/i.test(accept);

const ADMITS = /^(text\/event-stream|text\/\*|\*\/\*)\s*(;|$)/;

/** Takes the response from Fastify and does the work of its hooks. Null when the caller has left already. */
export function openEventStream(
  wheel: StreamWheel,
  request: FastifyRequest,
  reply: FastifyReply,
  leftMs: number,
): EventStream | null {
  reply.hijack();
  const { raw } = reply;
  if (raw.destroyed) return null;
  if (request.budget) setBudgetHeaders(reply, request.budget);
  recordAnswer(request, reply);
  raw.writeHead(200, reply.headers(HEADERS).getHeaders() as OutgoingHttpHeaders);
  // Sent on its own, the head is one string; sent with the first event, its pieces would stay in memory.
  raw.cork();
  raw.flushHeaders();
  process.nextTick(() => raw.uncork());
  forgetRequest(raw);
  return wheel.open(raw, leftMs);
}

/** Drops Fastify's `finish` listeners, which keep request and reply in memory for a log line at the end. */
function forgetRequest(raw: ServerResponse): void {
  const [, ...ofFastify] = raw.listeners('finish') as (() => void)[];
  for (const listener of ofFastify) raw.off('finish', listener).off('error', listener);
}
