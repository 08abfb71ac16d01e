import { isResultId } from '@eloquentpoll/polls';
import { readHistory } from '@eloquentpoll/storage';
import { resultMarkdown } from '../../discovery/documents/result-markdown.ts';
import { ApiError } from '../../http/api-error.ts';
import type { PollsContext } from '../../polls/context.ts';
import { resultWithId } from '../../polls/read/find-result.ts';
import { toResultDetail } from '../../polls/read/public-result.ts';
import { pageUrl } from '../../polls/read/to-wire.ts';

// Results as resources. Any caller who has a result's id may read it; lists contain only the caller's own results.

const SCHEME = 'poll://';
const MAX_LISTED = 50;

export const RESULT_TEMPLATE = {
  uriTemplate: `${SCHEME}{poll_id}`,
  name: 'poll_result',
  title: 'Result of a poll',
  description:
    'The stored result of a finished poll, as JSON and as markdown. Reading it costs nothing; it never changes.',
  mimeType: 'application/json',
} as const;

/** The newest results of an account. */
export async function listResultResources({ lists }: PollsContext, accountId: string) {
  const lines = await lists.ofAccount(accountId, (queries) => readHistory(queries, accountId, MAX_LISTED, 0));
  return lines.map(({ resultId, question, createdAt }) => ({
    uri: `${SCHEME}${resultId}`,
    name: resultId,
    title: question,
    mimeType: 'application/json',
    annotations: { lastModified: createdAt.toISOString() },
  }));
}

/** Null if there is no such result. */
export async function readResultResource(context: PollsContext, uri: string) {
  const id = uri.startsWith(SCHEME) ? uri.slice(SCHEME.length) : '';
  if (!isResultId(id)) return null;
  try {
    const detail = toResultDetail(await resultWithId(context, id));
    return [
      { uri, mimeType: 'application/json', text: JSON.stringify(detail) },
      { uri, mimeType: 'text/markdown', text: resultMarkdown(detail, pageUrl(context.config, id)) },
    ];
  } catch (error) {
    if (error instanceof ApiError && error.code === 'result_not_found') return null;
    throw error;
  }
}
