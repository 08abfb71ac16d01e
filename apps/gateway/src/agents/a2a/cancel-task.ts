import { findPoll, type Poll } from '@eloquentpoll/storage';
import { ApiError } from '../../http/api-error.ts';
import type { PollsContext } from '../../polls/context.ts';
import { cancelRun } from '../../polls/run/cancel-run.ts';
import { findTask } from './find-task.ts';
import { A2A_ERRORS } from './methods.ts';
import { type A2aCall, RpcProtocolError } from './read-call.ts';
import { readTask, type Task } from './task.ts';

/** Ends the poll of a task. A task that was already canceled is returned; one that ended otherwise is an error. */
export async function cancelTask(
  context: PollsContext,
  accountId: string,
  { params }: A2aCall,
  stop: AbortSignal,
): Promise<{ poll: Poll; task: Task }> {
  const { poll, names } = await findTask(context, accountId, params.id);
  if (poll.status === 'running') await cancelRun(context, accountId, poll.id, stop);
  const ended = await findPoll(context.storage, poll.id);
  if (!ended) throw new ApiError('session_not_found');
  if (ended.canceledAt === null) {
    throw new RpcProtocolError(A2A_ERRORS.taskNotCancelable, 'The task has ended, so it cannot be canceled.');
  }
  return { poll: ended, task: await readTask(context, ended, names) };
}
