import type { PollResponse, QuickPollResult } from '@eloquentpoll/contracts';
import { isFree } from '@eloquentpoll/polls';
import { reasoning } from '@eloquentpoll/voting';
import type { Config } from '../../config/config.ts';
import type { ShortOrder } from '../order/short-order.ts';
import { pageUrl, publicResultUrl } from './to-wire.ts';

/** The short answer to a poll in shorthand, with the URL of its public result. */
export function toQuickResult(
  { baseUrl }: Pick<Config, 'baseUrl'>,
  result: PollResponse,
  optionsSource: ShortOrder['optionsSource'],
): QuickPollResult {
  const free = isFree(result.preset);
  return {
    question: result.question,
    options: result.options,
    answer: result.winning_option,
    reasoning: reasoningOf(result),
    cost: free ? 0 : result.costs.total_estimated_cost,
    ...(free && { theme: 'free' }),
    status: result.status,
    poll_id: result.poll_id,
    result_url: publicResultUrl({ baseUrl }, result.poll_id),
    page_url: pageUrl({ baseUrl }, result.poll_id),
    ...(result.panel && { panel: result.panel }),
    ...(optionsSource === 'server' && { options_source: optionsSource }),
  };
}

function reasoningOf({ options, votes, tally, winning_option }: PollResponse): string {
  const counts = new Map(Object.entries(tally));
  return reasoning({
    winner: winning_option === null ? null : options.indexOf(winning_option),
    tally: options.map((option) => counts.get(option) ?? 0),
    requested: votes.length,
    succeeded: votes.filter((vote) => vote.success).length,
  });
}
