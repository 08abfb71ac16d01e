import type { PollsContext } from '../context.ts';
import { requestCancel } from './cancel-run.ts';

interface LeftPoll {
  pollId: string;
  accountId: string | null;
  /** A repeated request would find the poll. */
  isKeyed: boolean;
}

/** Cancels a poll whose caller has left and has no means to find it again. */
export async function cancelUnkeyed(context: PollsContext, { pollId, accountId, isKeyed }: LeftPoll): Promise<void> {
  if (accountId === null || isKeyed) return;
  try {
    await requestCancel(context, accountId, pollId);
  } catch (error) {
    context.log.warn({ poll_id: pollId, err: error }, 'poll.cancel_failed');
  }
}
