import { isResultId } from '@eloquentpoll/polls';
import { findResult, type Result, refuseMovedResult } from '@eloquentpoll/storage';
import { ApiError } from '../../http/api-error.ts';
import type { PollsContext } from '../context.ts';

/** The id is the permission to read. Malformed, unknown and still running are one answer. */
export async function resultWithId(
  { storage }: PollsContext,
  id: string,
  orElse: 'result_not_found' | 'poll_not_found' = 'result_not_found',
): Promise<Result> {
  const result = isResultId(id) ? await findResult(storage, id) : null;
  if (result) return result;
  if (isResultId(id)) await refuseMovedResult(storage, id);
  throw new ApiError(orElse);
}

/**
 * A result never changes until it is deleted: caches may keep it and have to ask each time whether it is still there.
 * Search engines must not index what only its id opens.
 */
export const RESULT_HEADERS = {
  'cache-control': 'public, no-cache',
  'x-robots-tag': 'noindex',
} as const;
