import { findPoll, findPollOfKey } from '@eloquentpoll/storage';
import { ApiError } from '../../http/api-error.ts';
import type { PollsContext } from '../../polls/context.ts';
import type { A2aCall } from './read-call.ts';
import { NAMED_TASK, readTask, TASK, type Task } from './task.ts';
import { keyOfTask, parseTaskId, readName } from './task-ids.ts';

/** Finds a task of the caller by our id, or for 24 hours by the id that the caller chose. */
export async function getTask(context: PollsContext, accountId: string, { params }: A2aCall): Promise<Task> {
  const id = readName(params.id, 'id');
  if (id === null) throw new ApiError('invalid_task_input', { detail: 'id is required.' });
  const parsed = parseTaskId(id);
  const pollId = parsed?.pollId ?? (await findNamedPoll(context, accountId, id));
  const poll = pollId === null ? null : await findPoll(context.storage, pollId);
  if (!poll || poll.accountId !== accountId || ![TASK, NAMED_TASK].includes(poll.entryPoint)) {
    throw new ApiError('session_not_found', { detail: 'No task of yours has this id.' });
  }
  return readTask(context, poll, { id, contextId: parsed?.contextId ?? null });
}

const findNamedPoll = ({ storage }: PollsContext, principal: string, id: string): Promise<string | null> =>
  findPollOfKey(storage, { principal, entryPoint: NAMED_TASK, key: keyOfTask(id) });
