import type { PollResponse } from '@eloquentpoll/contracts';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { goneSignal } from '../../http/gone-signal.ts';
import { markReplayed } from '../../http/hooks/idempotency-key.ts';
import type { PollsContext } from '../context.ts';
import type { ShortOrder } from '../order/short-order.ts';
import { awaitPoll } from './await-poll.ts';
import { submissionOf } from './submission.ts';

/** Runs what a request ordered, or joins what an earlier one with the same key ordered, while its caller waits. */
export async function runAndWait(
  context: PollsContext,
  request: FastifyRequest,
  reply: FastifyReply,
  entryPoint: string,
  { order, optionsSource }: ShortOrder,
): Promise<PollResponse> {
  const form = optionsSource === 'server' ? { optionsSource } : {};
  const submission = submissionOf(context, request, order, entryPoint, form);
  const { result, joined } = await awaitPoll(context, submission, goneSignal(reply));
  if (joined) markReplayed(reply);
  return result;
}
