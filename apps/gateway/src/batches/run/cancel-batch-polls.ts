import { type ClaimedBatch, runningPollsOfBatch } from '@eloquentpoll/storage';
import type { PollsContext } from '../../polls/context.ts';
import { requestCancel } from '../../polls/run/cancel-run.ts';

const MAX_POLLS = 500;
const AT_ONCE = 4;

/** Cancels each poll of the batch that has not ended, once; `canceled` remembers which were canceled. */
export async function cancelBatchPolls(
  context: PollsContext,
  { id, accountId }: ClaimedBatch,
  canceled: Set<string>,
): Promise<void> {
  const running = await runningPollsOfBatch(context.storage, id, MAX_POLLS);
  const left = running.filter((pollId) => !canceled.has(pollId));
  await Promise.all(
    Array.from({ length: AT_ONCE }, async () => {
      for (let pollId = left.pop(); pollId !== undefined; pollId = left.pop()) {
        await requestCancel(context, accountId, pollId);
        canceled.add(pollId);
      }
    }),
  );
}
