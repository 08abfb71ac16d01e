import type { PollResponse } from '@eloquentpoll/contracts';
import { findResultOfPoll, forgetPollKey, type IdempotencyKey } from '@eloquentpoll/storage';
import type { PollsContext } from '../context.ts';
import type { PollEnd } from './poll-follower.ts';

/**
 * The result of a poll that has ended; null when it was given up. Such a poll cost nothing, so its key no longer stands
 * for it: a retry makes a new one.
 */
export async function readOutcome(
  { storage }: Pick<PollsContext, 'storage'>,
  pollId: string,
  end: PollEnd,
  key: IdempotencyKey | undefined,
): Promise<PollResponse | null> {
  if (end.result) return end.result;
  const result = await findResultOfPoll(storage, pollId);
  if (result) return result.detail;
  if (key) await forgetPollKey(storage, key, pollId);
  return null;
}
