import { isPollId } from '@eloquentpoll/polls';
import { ApiError } from '../../http/api-error.ts';
import { fingerprintOf } from '../../http/fingerprint.ts';
import type { PollsContext } from '../../polls/context.ts';
import type { Submission } from '../../polls/run/submit-poll.ts';

// Some clients repeat every 5xx by themselves, whatever x-should-retry says. A request without a key that is sent again after
// an error which left its poll behind joins that poll. Where Redis is away it makes another one.

const KEPT_S = 300;

/** Joins what an earlier answer left; one request does, and the next makes a poll of its own. */
export async function joiningLeftPoll(context: PollsContext, submission: Submission): Promise<Submission> {
  const name = nameOf(context, submission);
  if (name === null) return submission;
  const joins = await context.bus.redis.getdel(name).catch(() => null);
  return joins !== null && isPollId(joins) ? { ...submission, joins } : submission;
}

/** For an answer with this error. */
export async function noteLeftPoll(context: PollsContext, submission: Submission, error: unknown): Promise<void> {
  const pollId = error instanceof ApiError ? error.circumstances.leavesPoll : undefined;
  const name = nameOf(context, submission);
  if (pollId === undefined || name === null) return;
  await context.bus.redis.set(name, pollId, 'EX', KEPT_S).catch(() => undefined);
}

/** Null for a caller who pays nothing, and for one with a key, which finds the poll. */
function nameOf({ bus }: PollsContext, { accountId, idempotency, order }: Submission): string | null {
  if (accountId === null || idempotency) return null;
  return `${bus.prefix}:left:{${fingerprintOf({ accountId, order })}}`;
}
