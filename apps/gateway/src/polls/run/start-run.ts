import { forgetPollKey } from '@eloquentpoll/storage';
import { ApiError } from '../../http/api-error.ts';
import type { PollsContext } from '../context.ts';
import { recordOf, stored } from '../read/open-run.ts';
import { type SessionView, viewOfStored } from '../read/run-view.ts';
import { type Submission, submitPoll } from './submit-poll.ts';

export interface Begun {
  view: SessionView;
  /** An earlier request with the same Idempotency-Key made this poll. */
  joined: boolean;
}

/**
 * A poll that nobody waits for here. A retry finds the session that its key stands for as it is now; one that was given
 * up cost nothing, so its key is free again and the retry begins a new poll.
 */
export async function beginSession(context: PollsContext, submission: Submission): Promise<Begun> {
  const { pollId, joined } = await submitPoll(context, submission);
  if (!joined) return { view: viewOfNew(pollId, submission.accountId), joined };
  const view = (await recordOf(context, pollId)) ?? (await stored(context, pollId));
  if (!view) throw new ApiError('service_unavailable', { retryAfterSeconds: 1 });
  if (view.status !== 'failed' || view.resultId !== null || !submission.idempotency) return { view, joined };
  await forgetPollKey(context.storage, { ...submission.idempotency, entryPoint: submission.entryPoint }, pollId);
  const again = await submitPoll(context, submission);
  return { view: viewOfNew(again.pollId, submission.accountId), joined: again.joined };
}

const viewOfNew = (pollId: string, accountId: string | null): SessionView =>
  viewOfStored({ pollId, accountId, status: 'running', resultId: null });
