import { StorageBusy, StorageUnavailable } from '@eloquentpoll/storage';
import { ApiError } from '../../http/api-error.ts';

// A poll that was made may have ended, and been billed, where its caller cannot hear how: it is a 503 then, which says where
// the poll is found, and never an error that says that it failed.

interface MadePoll {
  pollId: string;
  /** Null for a caller who could not read it by its id. */
  accountId: string | null;
}

const RETRY_AFTER_SECONDS = 2;

const UNKNOWN =
  'How the poll ended is not known yet. The same Idempotency-Key finds its result; a repeat without one may make another poll.';

export const outcomeUnknown = (
  { pollId, accountId }: MadePoll,
  more: { detail?: string; retryAfterSeconds?: number; cause?: unknown } = {},
): ApiError =>
  new ApiError('service_unavailable', {
    detail: UNKNOWN,
    retryAfterSeconds: RETRY_AFTER_SECONDS,
    ...more,
    leavesPoll: pollId,
    ...(accountId !== null && { members: { session_id: pollId } }),
  });

/** What the storage says of a poll that was made; where it is away that is unknown. */
export async function knownOf<T>(poll: MadePoll, read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (error) {
    if (!(error instanceof StorageUnavailable || error instanceof StorageBusy)) throw error;
    throw outcomeUnknown(poll, { cause: error });
  }
}
