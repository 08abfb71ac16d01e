import type { PollResponse, PollSession } from '@eloquentpoll/contracts';
import type { Result } from '@eloquentpoll/storage';
import type { Config } from '../../config/config.ts';
import type { SessionView } from './run-view.ts';

/** What is stored with a result is the answer that its caller got, word for word. */
export const toPollResponse = (result: Result): PollResponse => result.detail as PollResponse;

export const toSession = (config: Config, { pollId, status, resultId }: SessionView): PollSession => ({
  session_id: pollId,
  status,
  result_id: resultId,
  status_url: statusUrl(config, pollId),
  result_url: resultUrl(config, pollId),
});

export const statusUrl = ({ baseUrl }: Config, pollId: string): string => `${baseUrl}/api/polls/${pollId}/status`;
export const resultUrl = ({ baseUrl }: Config, pollId: string): string => `${baseUrl}/api/polls/${pollId}/result`;
