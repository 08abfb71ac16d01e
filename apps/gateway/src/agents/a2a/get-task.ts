import { findPoll, findPollOfKey } from '@eloquentpoll/storage';
import { ApiError } from '../../http/api-error.ts';
import type { PollsContext } from '../../polls/context.ts';
import type { Call } from './read-call.ts';
import { NAMED_TASK, readTask, TASK, type Task } from './task.ts';
import { givenName, keyOfTask, readTaskId } from './task-ids.ts';

/** A task of the caller's, by its id; by a name that the caller gave, for 24 hours. */
export async function getTask(context: PollsContext, accountId: string, { params }: Call): Promise<Task> {
  const id = givenName(params.id, 'id');
  if (id === null) throw new ApiError('invalid_task_input', { detail: 'id is required.' });
  const ours = readTaskId(id);
  const pollId = ours?.pollId ?? (await pollNamed(context, accountId, id));
  const poll = pollId === null ? null : await findPoll(context.storage, pollId);
  if (!poll || poll.accountId !== accountId || ![TASK, NAMED_TASK].includes(poll.entryPoint)) {
    throw new ApiError('session_not_found', { detail: 'No task of yours has this id.' });
  }
  return readTask(context, poll, { id, contextId: ours?.contextId ?? null });
}

const pollNamed = ({ storage }: PollsContext, principal: string, id: string): Promise<string | null> =>
  findPollOfKey(storage, { principal, entryPoint: NAMED_TASK, key: keyOfTask(id) });
