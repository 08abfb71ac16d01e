import { isResultId } from '@eloquentpoll/polls';
import { findResult, type Result, refuseMovedResult } from '@eloquentpoll/storage';
import { ApiError } from '../../http/api-error.ts';
import type { PollsContext } from '../context.ts';

/** Anyone who knows the id may read the result. Malformed, unknown and still running ids get the same answer. */
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
 * A result never changes until it is deleted: caches may keep it, but must check each time that it still exists. Search
 * engines must not index pages that are protected only by their id.
 */
export const RESULT_HEADERS = {
  'cache-control': 'public, no-cache',
  'x-robots-tag': 'noindex',
} as const;
