import { isJsonObject } from '@eloquentpoll/contracts';
import { findPoll, NAMED_TASK, type Poll, TASK } from '@eloquentpoll/storage';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { accountOf } from '../../http/access.ts';
import { ApiError } from '../../http/api-error.ts';
import { goneSignal } from '../../http/gone-signal.ts';
import { markReplayed } from '../../http/hooks/idempotency-key.ts';
import type { PollsContext } from '../../polls/context.ts';
import { readPollOrder } from '../../polls/order/poll-order.ts';
import { awaitPoll } from '../../polls/run/await-poll.ts';
import { knownOf } from '../../polls/run/outcome-unknown.ts';
import { submissionOf } from '../../polls/run/submission.ts';
import { type Submission, submitPoll } from '../../polls/run/submit-poll.ts';
import { findTask } from './find-task.ts';
import { A2A_ERRORS, pushRefusal } from './methods.ts';
import { type A2aCall, RpcProtocolError } from './read-call.ts';
import { namesOf, readTask, type Task, type TaskNames, taskOf } from './task.ts';
import { keyOfTask, readName } from './task-ids.ts';
import { pollOfMessage } from './task-input.ts';

/** The submission for a message, and the names of its task. */
export interface TaskOrder {
  submission: Submission;
  namesOf(poll: Poll): TaskNames;
}

/** Runs the poll in a message. */
export async function sendTask(
  context: PollsContext,
  request: FastifyRequest,
  reply: FastifyReply,
  call: A2aCall,
): Promise<Task> {
  const { submission, namesOf } = await orderTask(context, request, call);
  const { pollId, joined, result } = isBlocking(call.params)
    ? await awaitPoll(context, submission, goneSignal(reply))
    : { ...(await submitPoll(context, submission)), result: null };
  if (joined) markReplayed(reply);
  const poll = await madePoll(context, submission, pollId);
  if (result) return taskOf(poll, result, namesOf(poll));
  return knownOf({ pollId, accountId: submission.accountId }, () => readTask(context, poll, namesOf(poll)));
}

/** The task id that a caller of version 0.1 chooses is also the idempotency key. */
export async function orderTask(
  context: PollsContext,
  request: FastifyRequest,
  { version, params }: A2aCall,
): Promise<TaskOrder> {
  const message = isJsonObject(params.message) ? params.message : {};
  if (message.taskId) await refuseSecondMessage(context, request, message.taskId);
  if (asksForPush(params)) throw new RpcProtocolError(pushRefusal(version).rpcCode, pushRefusal(version).detail);
  const order = readPollOrder(pollOfMessage(params));
  const name = version === '0.1' ? readName(params.id, 'id') : null;
  const contextId = readName(version === '0.1' ? params.sessionId : message.contextId, 'contextId');
  if (name !== null) request.idempotencyKey = onlyKey(name, request.idempotencyKey);
  const submission = submissionOf(context, request, name === null ? TASK : NAMED_TASK, { order });
  return {
    submission: {
      ...submission,
      contextId: contextId ?? undefined,
      ...(name !== null && { keyName: 'task id' }),
    },
    namesOf: (poll) => ({
      id: name ?? poll.id,
      contextId: version === '0.1' ? poll.contextId : namesOf(poll).contextId,
    }),
  };
}

/** The task id is the idempotency key; a header with another key would be ignored, so it is refused. */
function onlyKey(name: string, header: string | null): string {
  if (header === null || header === name) return keyOfTask(name);
  const detail = 'id and the Idempotency-Key header differ; send one of them.';
  throw new ApiError('invalid_task_input', { detail });
}

/** The stored poll of an accepted submission. */
export async function madePoll({ storage }: PollsContext, { accountId }: Submission, pollId: string): Promise<Poll> {
  const poll = await knownOf({ pollId, accountId }, () => findPoll(storage, pollId));
  if (!poll) throw new ApiError('poll_execution_failed');
  return poll;
}

async function refuseSecondMessage(context: PollsContext, request: FastifyRequest, taskId: unknown): Promise<never> {
  await findTask(context, accountOf(request), taskId);
  throw new RpcProtocolError(A2A_ERRORS.unsupportedOperation, ONE_MESSAGE);
}

const ONE_MESSAGE = 'A task takes one message; send a new one without taskId.';

/** In version 0.1 `pushNotification`, in 0.3 `pushNotificationConfig`, in 1.0 `taskPushNotificationConfig`. */
function asksForPush({ configuration, pushNotification }: Record<string, unknown>): boolean {
  const { pushNotificationConfig, taskPushNotificationConfig } = isJsonObject(configuration) ? configuration : {};
  return [pushNotification, pushNotificationConfig, taskPushNotificationConfig].some(isJsonObject);
}

/** Version 0.3 has `blocking`, version 1.0 has `returnImmediately`. */
function isBlocking({ configuration }: Record<string, unknown>): boolean {
  return !isJsonObject(configuration) || (configuration.blocking !== false && configuration.returnImmediately !== true);
}
