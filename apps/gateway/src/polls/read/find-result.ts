import { isResultId } from '@eloquentpoll/polls';
import { findResult, type Result } from '@eloquentpoll/storage';
import { ApiError } from '../../http/api-error.ts';
import type { PollsContext } from '../context.ts';

/** The id is the permission to read. Malformed, unknown and still running are one answer. */
export async function resultWithId(
  { storage }: PollsContext,
  id: string,
  orElse: 'result_not_found' | 'poll_not_found' = 'result_not_found',
): Promise<Result> {
  const result = isResultId(id) ? await findResult(storage, id) : null;
  if (!result) throw new ApiError(orElse);
  return result;
}

/**
 * A result never changes, so caches may keep it, but not for longer than one may be read whose account was closed. Search
 * engines must not index what only its id opens.
 */
export const RESULT_HEADERS = {
  'cache-control': 'public, max-age=3600',
  'x-robots-tag': 'noindex',
} as const;
