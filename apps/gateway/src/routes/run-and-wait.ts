import type { PollResponse } from '@eloquentpoll/contracts';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Context } from '../context.ts';
import { markReplayed } from '../plugins/idempotency-key.ts';
import { awaitPoll } from '../polls/await-poll.ts';
import type { ShortOrder } from '../polls/short-order.ts';
import { submissionOf } from '../polls/submission.ts';
import { goneSignal } from './gone-signal.ts';

/** Runs what a request ordered, or joins what an earlier one with the same key ordered, while its caller waits. */
export async function runAndWait(
  context: Context,
  request: FastifyRequest,
  reply: FastifyReply,
  surface: string,
  { order, optionsSource }: ShortOrder,
): Promise<PollResponse> {
  const form = optionsSource === 'server' ? { optionsSource } : {};
  const submission = submissionOf(context, request, order, surface, form);
  const { result, joined } = await awaitPoll(context, submission, goneSignal(reply));
  if (joined) markReplayed(reply);
  return result;
}
