import type { ErrorCode, PollResponse } from '@eloquentpoll/contracts';

/** The error of a poll without a vote: a retry may bring one, unless the maximum cost pays for no call at all. */
export function whyFailed(result: Pick<PollResponse, 'votes' | 'termination_reason'> | null): ErrorCode {
  return result?.termination_reason === 'budget' && result.votes.length === 0 ? 'budget_too_small' : 'poll_failed';
}
