import { FreePollRequest, type Issue, ShortPollRequest } from '@eloquentpoll/contracts';
import { isFree, minVotesOf, type PollOrder } from '@eloquentpoll/polls';
import { invalid } from '../../http/api-error.ts';
import { optionIssues, questionIssues } from '../../http/validation/option-rules.ts';
import { issuesOf, refusal } from '../../http/validation/validator.ts';
import { type Folded, type FromField, foldAliases, withinPoll } from './fold-aliases.ts';
import { expiryOf, metadataOf, panelIssues, profileIssues, termsOf, tierIssues } from './poll-order.ts';
import { suppliedOptions } from './supplied-options.ts';
import { type CallerKind, panelOfTheme, refusePaid, wantsFree } from './themes.ts';
import { unsupportedIssues } from './unsupported-fields.ts';

// Reads a poll in shorthand into the same order as the long form, or answers 400 about the fields that the caller
// wrote. Missing options are filled in. A poll without an account is free; all free polls have tighter limits.

export interface ShortOrder {
  order: PollOrder;
  optionsSource: 'caller' | 'server';
}

/** Above the cost of any free panel, so that no free poll stops because of its cost. */
const FREE_MAX_COST_USD = 0.1;

export function readShortOrder(body: unknown, caller: CallerKind): ShortOrder {
  if (caller === 'anonymous') refusePaid(body);
  const shape = wantsFree(body, caller) ? FreePollRequest : ShortPollRequest;
  refuse(issuesOf(shape, body));
  refuse(issuesOf(ShortPollRequest, body));
  const request = body as ShortPollRequest;
  refuse([
    ...profileIssues(request),
    ...panelIssues(request),
    ...unsupportedIssues(body),
    ...tierIssues(body, 'awaited'),
  ]);
  const panel = panelOfTheme(request, caller);

  const folded = foldAliases(request);
  const { question, options } = folded;
  if (!question) throw invalid([request.poll === undefined ? NO_QUESTION : NO_QUESTION_IN_POLL]);
  refuse(sizeIssues(folded, shape));
  refuse(textIssues(question, options));

  const text = { question: question.value, options: options?.value ?? suppliedOptions(question.value) };
  return { order: shortOrder(request, text, panel), optionsSource: options ? 'caller' : 'server' };
}

const NO_QUESTION = { pointer: '#/question', detail: 'question is required' };
const NO_QUESTION_IN_POLL = { pointer: '#/poll', detail: 'poll has no question: write it before the options' };

/** For a request that has been checked. */
export const shortOrder = (
  request: ShortPollRequest,
  text: Pick<PollOrder, 'question' | 'options'>,
  { panel, search }: ReturnType<typeof panelOfTheme>,
): PollOrder => ({
  ...text,
  ...termsOf(isFree(panel) ? { ...request, max_cost_usd: FREE_MAX_COST_USD } : request),
  panel_name: panel,
  min_votes: minVotesOf(panel),
  search,
  ...(request.reasons && { reasons: true }),
  ...metadataOf(request),
  ...expiryOf(request),
});

function refuse(issues: readonly Issue[]): void {
  if (issues.length > 0) throw refusal(issues);
}

/** The schema limits only the fields of the body; the parts of `poll` are measured here. */
function sizeIssues({ question, options }: Folded, shape: typeof FreePollRequest | typeof ShortPollRequest): Issue[] {
  const parts = {
    ...(question?.field === 'poll' && { question: question.value }),
    ...(options?.field === 'poll' && { options: options.value }),
  };
  return issuesOf(shape, parts).map(withinPoll);
}

function textIssues(question: FromField<string>, options: FromField<string[]> | null): Issue[] {
  return [...inOwnField(question, questionIssues), ...(options ? inOwnField(options, optionIssues) : [])];
}

function inOwnField<T>({ value, field }: FromField<T>, check: (value: T, field?: string) => Issue[]): Issue[] {
  return field === 'poll' ? check(value).map(withinPoll) : check(value, field);
}
