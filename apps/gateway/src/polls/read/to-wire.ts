import type { PollSession } from '@eloquentpoll/contracts';
import type { Config } from '../../config/config.ts';
import type { RunView } from './run-view.ts';

export const toSession = (config: Config, { pollId, status, resultId }: RunView): PollSession => ({
  session_id: pollId,
  status,
  result_id: resultId,
  status_url: statusUrl(config, pollId),
  result_url: resultUrl(config, pollId),
});

export const statusUrl = ({ baseUrl }: Config, pollId: string): string => `${baseUrl}/api/polls/${pollId}/status`;
export const resultUrl = ({ baseUrl }: Config, pollId: string): string => `${baseUrl}/api/polls/${pollId}/result`;
export const publicResultUrl = ({ baseUrl }: Pick<Config, 'baseUrl'>, resultId: string): string =>
  `${baseUrl}/api/results/${resultId}`;
/** The result page, for people. It works from the first second and shows the progress of a running poll. */
export const pageUrl = ({ baseUrl }: Pick<Config, 'baseUrl'>, resultId: string): string =>
  `${baseUrl}/result/${resultId}`;
