import type { FastifyReply, FastifyRequest } from 'fastify';
import { ApiError } from '../../http/api-error.ts';
import type { PollsContext } from '../context.ts';
import type { ShortOrder } from '../order/short-order.ts';
import { beginStream } from './begin-stream.ts';
import { followPoll } from './follow-poll.ts';
import { PollRelay } from './relay-poll.ts';
import { submissionOf } from './submission.ts';

/** Like run-and-wait.ts, for a caller that asks for an event stream: the votes are told as they arrive. */
export async function runAndFollow(
  context: PollsContext,
  request: FastifyRequest,
  reply: FastifyReply,
  entryPoint: string,
  { order, optionsSource }: ShortOrder,
  closing: AbortSignal,
): Promise<undefined> {
  if (closing.aborted) throw new ApiError('service_unavailable', { retryAfterSeconds: 1 });
  const relay = new PollRelay(context);
  const form = optionsSource === 'server' ? { optionsSource } : {};
  const start = await beginStream(context, submissionOf(context, request, order, entryPoint, form), relay);
  followPoll(context, request, reply, relay, start);
  return undefined;
}
