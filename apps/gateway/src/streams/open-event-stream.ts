import type { OutgoingHttpHeaders } from 'node:http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ApiError } from '../api-error.ts';
import { tell } from '../plugins/rate-limit.ts';
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

const ADMITS = /^(text\/event-stream|text\/\*|\*\/\*)\s*(;|$)/;

/**
 * From here on the response is a stream: no hook sees it any more, so what hooks would have added is added here. Null
 * when the caller has left already.
 */
export function openEventStream(wheel: StreamWheel, request: FastifyRequest, reply: FastifyReply): EventStream | null {
  reply.hijack();
  const { raw } = reply;
  if (raw.destroyed) return null;
  if (request.budget) tell(reply, request.budget);
  raw.writeHead(200, reply.headers(HEADERS).getHeaders() as OutgoingHttpHeaders);
  // What is only needed until now would otherwise stay as long as the stream.
  request.body = undefined;
  return wheel.open(raw);
}
