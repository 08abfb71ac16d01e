import { findPoll, findPollByResult, type Poll } from '@eloquentpoll/storage';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ApiError } from '../../http/api-error.ts';
import { goneSignal } from '../../http/gone-signal.ts';
import { markReplayed } from '../../http/hooks/idempotency-key.ts';
import type { PollsContext } from '../../polls/context.ts';
import { readPollOrder } from '../../polls/order/poll-order.ts';
import { awaitPoll } from '../../polls/run/await-poll.ts';
import { submissionOf } from '../../polls/run/submission.ts';
import { type Submission, submitPoll } from '../../polls/run/submit-poll.ts';
import { isObject } from '../json-rpc.ts';
import type { Call } from './read-call.ts';
import { NAMED_TASK, TASK, type Task, taskOf } from './task.ts';
import { givenName, keyOfTask, taskIdOf } from './task-ids.ts';
import { pollIn } from './task-input.ts';

/**
 * Runs the poll that a message holds. The name that a caller of the first generation gave is its idempotency key too:
 * the same name with the same poll gets the task that is there.
 */
export async function sendTask(
  context: PollsContext,
  request: FastifyRequest,
  reply: FastifyReply,
  { dialect, params }: Call,
): Promise<Task> {
  const { message } = params;
  if (isObject(message) && message.taskId) throw new ApiError('invalid_task_input', { detail: ONE_MESSAGE });
  const order = readPollOrder(pollIn(params));
  const name = dialect === '0.1' ? givenName(params.id, 'id') : null;
  const contextId = givenName(
    dialect === '0.1' ? params.sessionId : isObject(message) && message.contextId,
    'contextId',
  );
  if (name !== null) request.idempotencyKey = keyOfTask(name);
  const submission = submissionOf(context, request, order, name === null ? TASK : NAMED_TASK);

  const { poll, joined } = waits(params)
    ? await runToEnd(context, submission, reply)
    : await onlyBegin(context, submission);
  if (joined) markReplayed(reply);
  const id = name ?? taskIdOf(poll.id, dialect === '0.1' ? null : contextId);
  return taskOf(context, poll, { id, contextId: contextId ?? (dialect === '0.1' ? null : poll.id) });
}

const ONE_MESSAGE = 'A task takes one message; send a new one without taskId.';

interface Begun {
  poll: Poll;
  joined: boolean;
}

async function runToEnd(context: PollsContext, submission: Submission, reply: FastifyReply): Promise<Begun> {
  const { result, joined } = await awaitPoll(context, submission, goneSignal(reply));
  return { poll: there(await findPollByResult(context.storage, result.poll_id)), joined };
}

async function onlyBegin(context: PollsContext, submission: Submission): Promise<Begun> {
  const { pollId, joined } = await submitPoll(context, submission);
  return { poll: there(await findPoll(context.storage, pollId)), joined };
}

function there(poll: Poll | null): Poll {
  if (!poll) throw new ApiError('poll_execution_failed');
  return poll;
}

/** Versions 0.3 and 1.0 have a word each for not waiting. */
function waits({ configuration }: Record<string, unknown>): boolean {
  return !isObject(configuration) || (configuration.blocking !== false && configuration.returnImmediately !== true);
}
