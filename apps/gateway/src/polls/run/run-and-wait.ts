import type { PollResponse } from '@eloquentpoll/contracts';
import type { FastifyReply } from 'fastify';
import { goneSignal } from '../../http/gone-signal.ts';
import { markReplayed } from '../../http/hooks/idempotency-key.ts';
import type { PollsContext } from '../context.ts';
import { awaitPoll } from './await-poll.ts';
import type { Submission } from './submit-poll.ts';

/** Answers with the poll's result. An earlier request with the same Idempotency-Key may have made the poll. */
export async function runAndWait(
  context: PollsContext,
  reply: FastifyReply,
  submission: Submission,
): Promise<PollResponse> {
  const { result, joined } = await awaitPoll(context, submission, goneSignal(reply));
  if (joined) markReplayed(reply);
  return result;
}
