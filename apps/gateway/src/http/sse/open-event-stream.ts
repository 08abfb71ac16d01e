import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ApiError } from '../api-error.ts';
import { noteAnswer } from '../hooks/access-log.ts';
import { tell } from '../hooks/rate-limit.ts';
import type { EventStream } from './event-stream.ts';
import type { StreamWheel } from './stream-wheel.ts';

const HEADERS = {
  'content-type': 'text/event-stream',
  // Neither kept nor compressed nor collected on the way.
  'cache-control': 'no-cache, no-transform',
  'x-accel-buffering': 'no',
};

/** Refuses a caller whose Accept excludes a stream. One that asks for errors in a certain form has not said so. */
export function needsEventStream({ headers }: FastifyRequest): void {
  const ranges = (headers.accept ?? '')
    .split(',')
    .map((range) => range.trim().toLowerCase())
    .filter((range) => range !== '' && !range.startsWith('application/problem+json'));
  const admitted = ranges.some((range) => ADMITS.test(range) && !/;\s*q=0(\.0*)?\s*(;|$)/.test(range));
  if (ranges.length > 0 && !admitted) {
    throw new ApiError('not_acceptable', { detail: 'This operation answers with text/event-stream.' });
  }
}

/** A caller that names event streams and not JSON, where an operation has both. */
export const prefersEventStream = ({ headers: { accept = '' } }: FastifyRequest): boolean =>
  /(^|,)\s*text\/event-stream\s*(,|$)/i.test(accept) && !/application\/json/i.test(accept);

const ADMITS = /^(text\/event-stream|text\/\*|\*\/\*)\s*(;|$)/;

/**
 * From here on the response is a stream: no hook sees it any more, so what hooks would have done is done here. Null when
 * the caller has left already.
 */
export function openEventStream(
  wheel: StreamWheel,
  request: FastifyRequest,
  reply: FastifyReply,
  leftMs: number,
): EventStream | null {
  reply.hijack();
  const { raw } = reply;
  if (raw.destroyed) return null;
  if (request.budget) tell(reply, request.budget);
  noteAnswer(request, reply);
  raw.writeHead(200, reply.headers(HEADERS).getHeaders() as OutgoingHttpHeaders);
  // Sent by itself the head is one string; sent with the first event it would stay in memory piece by piece.
  raw.cork();
  raw.flushHeaders();
  process.nextTick(() => raw.uncork());
  forgetRequest(raw);
  return wheel.open(raw, leftMs);
}

/** Request and reply would stay as long as the stream, for the sake of a log line at its end. */
function forgetRequest(raw: ServerResponse): void {
  const [, ...ofFastify] = raw.listeners('finish') as (() => void)[];
  for (const listener of ofFastify) raw.off('finish', listener).off('error', listener);
}
