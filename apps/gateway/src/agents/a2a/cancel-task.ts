import type { PollsContext } from '../../polls/context.ts';
import { findTask } from './find-task.ts';
import { A2A_ERRORS } from './methods.ts';
import { type A2aCall, RpcProtocolError } from './read-call.ts';

/** No poll is cancelled once its models are asked; the protocol lets an agent say so for any state of a task. */
export async function cancelTask(context: PollsContext, accountId: string, { params }: A2aCall): Promise<never> {
  const { poll } = await findTask(context, accountId, params.id);
  throw new RpcProtocolError(
    A2A_ERRORS.taskNotCancelable,
    poll.status === 'running'
      ? 'A poll that runs cannot be cancelled; it ends by itself, within its max_cost_usd.'
      : 'The task has ended, so it cannot be cancelled.',
  );
}
