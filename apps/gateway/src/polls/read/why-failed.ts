import type { ErrorCode, PollResponse } from '@eloquentpoll/contracts';

/** What a poll without a vote is called: asking again may bring one, unless its maximum pays for no call at all. */
export function whyFailed(result: Pick<PollResponse, 'votes' | 'termination_reason'> | null): ErrorCode {
  return result?.termination_reason === 'budget' && result.votes.length === 0 ? 'budget_too_small' : 'poll_failed';
}
