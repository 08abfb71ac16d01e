import type { EloquentPoll } from '../eloquentpoll.ts';
import type { Heard } from './heard.ts';
import type { Terminal } from './terminal.ts';

/** What every command works with. */
export interface Invocation {
  polls: EloquentPoll;
  terminal: Terminal;
  json: boolean;
  /** The address of the service's pages, without a trailing slash. */
  siteUrl: string;
  heard: Heard;
}

export const resultPage = (siteUrl: string, resultId: string): string =>
  `${siteUrl}/result/${encodeURIComponent(resultId)}`;
