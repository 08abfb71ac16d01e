import { mayBeDone, StorageBusy, StorageUnavailable } from '@eloquentpoll/storage';
import { ApiError } from '../../http/api-error.ts';

// A poll that was made, or may have been, may have ended and been billed where its caller cannot hear how: it is a 503 then,
// which says where the poll is found, and never an error that says that it failed.

interface PollOfRequest {
  pollId: string;
  /** Null for a caller who could not read it by its id. */
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

/** Why a poll could not be accepted: a caller without a key may then repeat what made none, and only that. */
export function acceptFailure(error: unknown, poll: PollOfRequest): unknown {
  if (!isAway(error)) return error;
  if (mayBeDone(error)) return outcomeUnknown(poll, { detail: MADE_UNKNOWN, cause: error });
  return new ApiError('service_unavailable', {
    detail: NONE_MADE,
    retryAfterSeconds: RETRY_AFTER_SECONDS,
    cause: error,
  });
}

/** What the storage says of a poll that was made; where it is away that is unknown. */
export async function knownOf<T>(poll: PollOfRequest, read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (error) {
    if (!isAway(error)) throw error;
    throw outcomeUnknown(poll, { cause: error });
  }
}
