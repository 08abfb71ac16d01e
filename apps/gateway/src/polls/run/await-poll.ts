import type { OnNews } from '@eloquentpoll/bus';
import type { PollResponse, ProgressSnapshot } from '@eloquentpoll/contracts';
import { findPoll, findResultOfPoll, forgetPollKey } from '@eloquentpoll/storage';
import { ApiError } from '../../http/api-error.ts';
import type { PollsContext } from '../context.ts';
import { createBell } from './latest-value.ts';
import { type Submission, submitPoll } from './submit-poll.ts';

// Runs a poll while its caller waits. The worker's terminal message makes the answer quick; Postgres, read again every
// now and then, makes it certain. The answer is the stored result either way.

const READ_AGAIN_MS = 2_000;
/** What ends a poll at its deadline, and what stores its end, may be this late. */
const GRACE_MS = 8_000;

export interface EndedPoll {
  result: PollResponse;
  /** An earlier request with the same Idempotency-Key made this poll. */
  joined: boolean;
}

/** Whoever listens besides hears all news, in their order, until the poll has ended or the caller is gone. */
export async function awaitPoll(
  context: PollsContext,
  submission: Submission,
  gone: AbortSignal,
  listen?: OnNews,
): Promise<EndedPoll> {
  const bell = createBell<ProgressSnapshot | null>();
  const { pollId, joined, deadlineMs, watch } = await submitPoll(context, submission, {
    to: listen ? 'everything' : 'end',
    hear(news) {
      listen?.(news);
      bell.ring(news);
    },
  });
  try {
    const giveUpAt = performance.now() + deadlineMs + GRACE_MS;
    // A poll that somebody else began may have ended before we listened.
    if (joined || !watch) bell.ring(null);
    const stop = AbortSignal.any([gone, context.shutdown.signal]);
    while (performance.now() < giveUpAt) {
      const news = await bell.next(READ_AGAIN_MS, stop);
      if (news?.result) return { result: news.result, joined };
      if (news?.status !== 'running') {
        const ended = await readEnd(context, pollId, submission);
        if (ended) return { result: ended, joined };
      }
      if (stop.aborted) throw new ApiError('service_unavailable', { detail: LEAVING, retryAfterSeconds: 1 });
    }
    throw new ApiError('poll_execution_failed', { retryAfterSeconds: 5 });
  } finally {
    watch?.close();
  }
}

const LEAVING = 'The service is restarting; the poll goes on, and the same Idempotency-Key finds its result.';

/**
 * null while the poll runs. A poll that ended without a result was given up and cost nothing, so its key is free again:
 * a retry makes a new poll.
 */
async function readEnd(
  { storage }: PollsContext,
  pollId: string,
  submission: Submission,
): Promise<PollResponse | null> {
  // In this order: the poll's end and its result are stored together, and it may end between two reads.
  const poll = await findPoll(storage, pollId);
  if (poll?.status === 'running') return null;
  const result = await findResultOfPoll(storage, pollId);
  if (result) return result.detail;
  const { idempotency, entryPoint } = submission;
  if (idempotency) await forgetPollKey(storage, { ...idempotency, entryPoint }, pollId);
  throw new ApiError('poll_execution_failed');
}
