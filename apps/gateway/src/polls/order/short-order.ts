import { FreePollRequest, type Issue, ShortPollRequest } from '@eloquentpoll/contracts';
import { isFree, minVotesOf, type PollOrder } from '@eloquentpoll/polls';
import { invalid } from '../../http/api-error.ts';
import { optionIssues, questionIssues } from '../../http/validation/option-rules.ts';
import { issuesOf, refusal } from '../../http/validation/validator.ts';
import { type Folded, foldAliases, type Told, withinPoll } from './fold-aliases.ts';
import { profileIssues, termsOf } from './poll-order.ts';
import { suppliedOptions } from './supplied-options.ts';
import { type Caller, panelOfTheme, refusePaid, wantsFree } from './themes.ts';

// A poll that was ordered in shorthand, read to its end: the same order that the long form gives, or a 400 that speaks
// of the fields that the caller wrote. Options that are missing are supplied. Without an account a poll is free, and a
// free poll has the tighter limits, whoever asks for it.

export interface ShortOrder {
  order: PollOrder;
  optionsSource: 'caller' | 'server';
}

/** More than any free panel can cost, so that no free poll stops for money. */
const FREE_MAX_COST_USD = 0.1;

export function readShortOrder(body: unknown, caller: Caller): ShortOrder {
  if (caller === 'anonymous') refusePaid(body);
  const shape = wantsFree(body, caller) ? FreePollRequest : ShortPollRequest;
  refuse(issuesOf(shape, body));
  refuse(issuesOf(ShortPollRequest, body));
  const request = body as ShortPollRequest;
  refuse(profileIssues(request));
  const { panel, search } = panelOfTheme(request, caller);

  const folded = foldAliases(request);
  const { question, options } = folded;
  if (!question) throw invalid([{ pointer: '#/question', detail: 'question is required' }]);
  refuse(sizeIssues(folded, shape));
  refuse(textIssues(question, options));

  return {
    order: {
      question: question.value,
      options: options?.value ?? suppliedOptions(question.value),
      ...termsOf(isFree(panel) ? { ...request, max_cost_usd: FREE_MAX_COST_USD } : request),
      panel_name: panel,
      min_votes: minVotesOf(panel),
      search,
    },
    optionsSource: options ? 'caller' : 'server',
  };
}

function refuse(issues: readonly Issue[]): void {
  if (issues.length > 0) throw refusal(issues);
}

/** The body's own fields were measured with it; what came out of `poll` is measured here. */
function sizeIssues({ question, options }: Folded, shape: typeof FreePollRequest | typeof ShortPollRequest): Issue[] {
  const parts = {
    ...(question?.field === 'poll' && { question: question.value }),
    ...(options?.field === 'poll' && { options: options.value }),
  };
  return issuesOf(shape, parts).map(withinPoll);
}

function textIssues(question: Told<string>, options: Told<string[]> | null): Issue[] {
  return [...inOwnField(question, questionIssues), ...(options ? inOwnField(options, optionIssues) : [])];
}

function inOwnField<T>({ value, field }: Told<T>, check: (value: T, field?: string) => Issue[]): Issue[] {
  return field === 'poll' ? check(value).map(withinPoll) : check(value, field);
}
