import { mayBeDone, StorageBusy, StorageUnavailable } from '@eloquentpoll/storage';
import { ApiError } from '../../http/api-error.ts';

// A poll that was made, or may have been, can end and be billed although its caller does not learn how. The caller gets
// a 503 that says where to find the poll, and never an error that claims it failed.

interface PollOfRequest {
  pollId: string;
  /** Null for a caller who could not read the poll by its id. */
  accountId: string | null;
}

const RETRY_AFTER_SECONDS = 2;

const UNKNOWN =
  'How the poll ended is not known yet. The same Idempotency-Key finds its result; a repeat without one may make another poll.';

export const outcomeUnknown = (
  { pollId, accountId }: PollOfRequest,
  more: { detail?: string; retryAfterSeconds?: number; cause?: unknown } = {},
): ApiError =>
  new ApiError('service_unavailable', {
    detail: UNKNOWN,
    retryAfterSeconds: RETRY_AFTER_SECONDS,
    ...more,
    leavesPoll: pollId,
    ...(accountId !== null && { members: { session_id: pollId } }),
  });

const isAway = (error: unknown): boolean => error instanceof StorageUnavailable || error instanceof StorageBusy;

const MADE_UNKNOWN =
  'Whether a poll was made of this request is not known yet. The same Idempotency-Key finds it; a repeat without one may make another poll.';

const NONE_MADE =
  'The database is out of reach for a moment; no poll was made of this request and nothing was charged.';

/** Why a poll could not be accepted. Without an Idempotency-Key, only a request that made no poll may be repeated. */
export function acceptFailure(error: unknown, poll: PollOfRequest): unknown {
  if (!isAway(error)) return error;
  if (mayBeDone(error)) return outcomeUnknown(poll, { detail: MADE_UNKNOWN, cause: error });
  return new ApiError('service_unavailable', {
    detail: NONE_MADE,
    retryAfterSeconds: RETRY_AFTER_SECONDS,
    cause: error,
  });
}

/** Reads the state of a poll that was made. While the database is away, the answer is "outcome unknown". */
export async function knownOf<T>(poll: PollOfRequest, read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (error) {
    if (!isAway(error)) throw error;
    throw outcomeUnknown(poll, { cause: error });
  }
}
