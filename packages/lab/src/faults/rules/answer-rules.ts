import type { CampaignHistory } from '../history.ts';
import type { Attempt, RecordedOperation } from '../operations.ts';
import { BUDGET_REACHED } from '../request.ts';
import { askedPolls } from './asked-polls.ts';
import { canStrike } from './can-strike.ts';
import { type CampaignRule, label } from './rule.ts';

// Error answers to callers. Under faults a retry may get another answer than the lost one; all such cases are listed
// here, and every other error is wrong.

/** For a poll that ended without a result. */
const SAYS_FAILED = ['poll_failed', 'poll_canceled'];

/** Each has a Retry-After. */
const LATER = ['rate_limited', 'too_many_running', 'too_many_batches'];

export const answerRules: readonly CampaignRule[] = [
  {
    name: 'a caller hears that a poll failed or was canceled only where it did',
    broken(history) {
      const { pollsOf } = askedPolls(history);
      return history.operations.flatMap((operation) => {
        const didFail = pollsOf(operation).some(({ status }) => status === 'failed');
        const heard = answersOf(operation).filter(({ code }) => SAYS_FAILED.includes(code));
        const wrong = heard.filter(({ code }) => !didFail || (code === 'poll_canceled' && operation.kind !== 'cancel'));
        if (wrong.length > 0) return wrong.map((answer) => answerText(operation, answer));
        const isFailure = operation.outcome === 'failed' && !didFail;
        return isFailure ? [`${label(operation)} failed, and no poll of it did`] : [];
      });
    },
  },
  {
    name: 'no caller is refused but by what the campaign provokes',
    broken: ({ operations, mayRefuse }) =>
      operations.flatMap((operation) => {
        const isExpected = ({ code }: Answer) =>
          mayRefuse.includes(code) && (code !== 'key_budget_reached' || operation.limitedKey !== undefined);
        const refusals = answersOf(operation).filter(isRefusal);
        const wrong = refusals.filter((answer) => !isExpected(answer)).map((answer) => answerText(operation, answer));
        const isUnexplained = operation.outcome === 'refused' && refusals.length === 0;
        return isUnexplained ? [`${label(operation)} was refused by nothing`] : wrong;
      }),
  },
  {
    name: 'every other error below 500 is one that its request may get',
    broken: ({ operations, faults }) =>
      operations.flatMap((operation) =>
        answersOf(operation)
          .filter((answer) => answer.status < 500 && !isRefusal(answer) && !SAYS_FAILED.includes(answer.code))
          .filter((answer) => !mayBeAnsweredNow(operation, answer, faults))
          .map((answer) => answerText(operation, answer)),
      ),
  },
  {
    name: 'every error is of those that may be: nothing but 503 from 500 on',
    broken: ({ operations }) =>
      operations.flatMap((operation) =>
        answersOf(operation)
          .filter(({ status, code }) => status >= 500 && !MAY_BE.includes(`${status} ${code}`))
          .map((answer) => answerText(operation, answer)),
      ),
  },
];

const MAY_BE = ['503 service_unavailable', `503 ${BUDGET_REACHED}`];

type Answer = Attempt & { readonly status: number; readonly code: string };

/** The answers that are errors. */
const answersOf = ({ attempts }: RecordedOperation): Answer[] =>
  attempts.filter((one): one is Answer => one.status !== null && one.status >= 400 && one.code !== null);

const answerText = (operation: RecordedOperation, { status, code, gateway, method, path }: Answer): string =>
  `${label(operation)}: ${status} ${code} from ${gateway} to ${method} ${path}`;

const isRefusal = ({ status, code }: Answer): boolean => status === 402 || code === BUDGET_REACHED;

function mayBeAnsweredNow(operation: RecordedOperation, answer: Answer, faults: CampaignHistory['faults']): boolean {
  const { status, code, retryAfterS } = answer;
  if (status === 429) return LATER.includes(code) && (retryAfterS ?? 0) > 0;
  // Its body arrived too slowly.
  if (code === 'request_timeout') return faults.some((fault) => canStrike(fault, answer));
  // Other rules check these answers, except for callers who delete: after a lost answer, their retry finds no account.
  if (!operation.erasure) return code === 'session_not_found';
  return (status === 404 || status === 401) && answer.method === 'DELETE' && isRepeated(operation, answer);
}

/** An earlier attempt of this request had no definite answer. */
const isRepeated = ({ attempts }: RecordedOperation, answer: Attempt): boolean =>
  attempts.some(
    (before) =>
      before.asked < answer.asked &&
      before.method === answer.method &&
      before.path === answer.path &&
      (before.status === null || before.status >= 500),
  );
