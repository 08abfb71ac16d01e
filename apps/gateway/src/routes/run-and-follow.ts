import type { FastifyReply, FastifyRequest } from 'fastify';
import { ApiError } from '../api-error.ts';
import type { Context } from '../context.ts';
import { beginStream } from '../polls/begin-stream.ts';
import { PollRelay } from '../polls/relay-poll.ts';
import type { ShortOrder } from '../polls/short-order.ts';
import { submissionOf } from '../polls/submission.ts';
import { followPoll } from './follow-poll.ts';

/** Like run-and-wait.ts, for a caller that asks for an event stream: the votes are told as they arrive. */
export async function runAndFollow(
  context: Context,
  request: FastifyRequest,
  reply: FastifyReply,
  surface: string,
  { order, optionsSource }: ShortOrder,
  closing: AbortSignal,
): Promise<undefined> {
  if (closing.aborted) throw new ApiError('service_unavailable', { retryAfterSeconds: 1 });
  const relay = new PollRelay(context);
  const form = optionsSource === 'server' ? { optionsSource } : {};
  const start = await beginStream(context, submissionOf(context, request, order, surface, form), relay);
  followPoll(context, request, reply, relay, start);
  return undefined;
}
