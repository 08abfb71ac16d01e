import { isJsonObject } from '@eloquentpoll/contracts';
import { findPoll } from '@eloquentpoll/storage';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ApiError } from '../../http/api-error.ts';
import { goneSignal } from '../../http/gone-signal.ts';
import { markReplayed } from '../../http/hooks/idempotency-key.ts';
import type { PollsContext } from '../../polls/context.ts';
import { readPollOrder } from '../../polls/order/poll-order.ts';
import { awaitPoll } from '../../polls/run/await-poll.ts';
import { submissionOf } from '../../polls/run/submission.ts';
import { submitPoll } from '../../polls/run/submit-poll.ts';
import type { A2aCall } from './read-call.ts';
import { NAMED_TASK, readTask, TASK, type Task, taskOf } from './task.ts';
import { keyOfTask, readName, taskIdOf } from './task-ids.ts';
import { pollOfMessage } from './task-input.ts';

/** Runs the poll that a message holds. A name that a caller of version 0.1 gave is its idempotency key too. */
export async function sendTask(
  context: PollsContext,
  request: FastifyRequest,
  reply: FastifyReply,
  { version, params }: A2aCall,
): Promise<Task> {
  const { message } = params;
  if (isJsonObject(message) && message.taskId) throw new ApiError('invalid_task_input', { detail: ONE_MESSAGE });
  const order = readPollOrder(pollOfMessage(params));
  const name = version === '0.1' ? readName(params.id, 'id') : null;
  const contextId = readName(
    version === '0.1' ? params.sessionId : isJsonObject(message) && message.contextId,
    'contextId',
  );
  if (name !== null) request.idempotencyKey = keyOfTask(name);
  const submission = {
    ...submissionOf(context, request, name === null ? TASK : NAMED_TASK, { order }),
    ...(name !== null && { keyName: 'task id' }),
  };

  const { pollId, joined, result } = isBlocking(params)
    ? await awaitPoll(context, submission, goneSignal(reply))
    : { ...(await submitPoll(context, submission)), result: null };
  if (joined) markReplayed(reply);
  const poll = await findPoll(context.storage, pollId);
  if (!poll) throw new ApiError('poll_execution_failed');
  const id = name ?? taskIdOf(pollId, version === '0.1' ? null : contextId);
  const names = { id, contextId: contextId ?? (version === '0.1' ? null : pollId) };
  return result ? taskOf(poll, result, names) : readTask(context, poll, names);
}

const ONE_MESSAGE = 'A task takes one message; send a new one without taskId.';

/** Version 0.3 has `blocking`, version 1.0 has `returnImmediately`. */
function isBlocking({ configuration }: Record<string, unknown>): boolean {
  return !isJsonObject(configuration) || (configuration.blocking !== false && configuration.returnImmediately !== true);
}
