import { isPollId } from '@eloquentpoll/polls';
import { findPoll, findPollOfKey, NAMED_TASK, type Poll, TASK } from '@eloquentpoll/storage';
import { ApiError } from '../../http/api-error.ts';
import type { PollsContext } from '../../polls/context.ts';
import { namesOf, type TaskNames } from './task.ts';
import { keyOfTask, readName } from './task-ids.ts';

export interface FoundTask {
  poll: Poll;
  names: TaskNames;
}

/** Finds a task of the caller by our id or, for 24 hours, by the id that the caller chose. */
export async function findTask(context: PollsContext, accountId: string, given: unknown): Promise<FoundTask> {
  const id = readName(given, 'id');
  if (id === null) throw new ApiError('invalid_task_input', { detail: 'id is required.' });
  const pollId = isPollId(id) ? id : await findNamedPoll(context, accountId, id);
  const poll = pollId === null ? null : await findPoll(context.storage, pollId);
  if (!poll || poll.accountId !== accountId || ![TASK, NAMED_TASK].includes(poll.entryPoint)) {
    throw new ApiError('session_not_found', { detail: 'Your account has no task with this id.' });
  }
  return { poll, names: { ...namesOf(poll), id } };
}

const findNamedPoll = ({ storage }: PollsContext, principal: string, id: string): Promise<string | null> =>
  findPollOfKey(storage, { principal, entryPoint: NAMED_TASK, key: keyOfTask(id) });
