import type { PollResponse, ProgressSnapshot } from '@eloquentpoll/contracts';
import { ApiError } from '../../http/api-error.ts';
import type { PollsContext } from '../context.ts';
import { whyWithoutResult } from '../read/why-failed.ts';
import { cancelUnkeyed } from './cancel-unkeyed.ts';
import { knownOf, outcomeUnknown } from './outcome-unknown.ts';
import { END_GRACE_MS, type PollEnd, PollFollower } from './poll-follower.ts';
import { readOutcome } from './read-outcome.ts';
import { settleWithin } from './settle-within.ts';
import { type Submission, submitPoll } from './submit-poll.ts';

export interface EndedPoll {
  pollId: string;
  result: PollResponse;
  /** An earlier request with the same Idempotency-Key made this poll. */
  joined: boolean;
}

interface Waiting {
  /** Receives the progress until the poll ends or the caller leaves. */
  onSnapshot?: (snapshot: ProgressSnapshot) => void;
  /** When the caller leaves, cancel the poll, unless a repeated request would find it by its Idempotency-Key. */
  cancelsWhenGone?: boolean;
}

/** Runs a poll while its caller waits. */
export async function awaitPoll(
  context: PollsContext,
  submission: Submission,
  gone: AbortSignal,
  { onSnapshot, cancelsWhenGone = false }: Waiting = {},
): Promise<EndedPoll> {
  using follower = new PollFollower(context, onSnapshot ? 'snapshots' : 'end');
  const { pollId, deadlineMs, joined } = await submitPoll(context, submission, follower);
  const { promise: ended, resolve: onEnd } = Promise.withResolvers<PollEnd>();
  follower.follow(pollId, { onSnapshot, onEnd }, { catchUp: joined !== null });
  const made = { pollId, accountId: submission.accountId };
  const heard = await settleWithin(ended, deadlineMs + END_GRACE_MS, gone, context.shutdown.ending);
  // When the gateway shuts down, the caller has not left.
  if (heard === 'aborted' && cancelsWhenGone && !context.shutdown.ending.aborted)
    await cancelUnkeyed(context, { pollId, accountId: submission.accountId, isKeyed: Boolean(submission.idempotency) });
  if (heard === 'aborted') throw outcomeUnknown(made, { detail: RESTARTING, retryAfterSeconds: 1 });
  if (heard === 'timeout' && !(await follower.readLast())) throw outcomeUnknown(made);
  const end = heard === 'timeout' ? await ended : heard;
  const result = await knownOf(made, async () => {
    const stored = await readOutcome(context, pollId, end, submission.idempotency);
    if (!stored) throw new ApiError((await whyWithoutResult(context, pollId, 'poll_execution_failed')).code);
    return stored;
  });
  return { pollId, result, joined: joined !== null };
}

/** A caller who has left does not read it. */
const RESTARTING = 'The service is restarting; the poll goes on, and the same Idempotency-Key finds its result.';
