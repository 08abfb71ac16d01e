import { isPollId } from '@eloquentpoll/polls';
import { ApiError } from '../../http/api-error.ts';
import { fingerprintOf } from '../../http/fingerprint.ts';
import type { PollsContext } from '../../polls/context.ts';
import type { Submission } from '../../polls/run/submit-poll.ts';

// Some clients retry every 5xx by themselves, whatever x-should-retry says. If an error left a poll running, the
// repeated request joins that poll when it has no Idempotency-Key. While Redis is away it makes another poll.

const KEPT_S = 300;

/** Joins the poll that an earlier error left. Only one request can join it; the next makes a poll of its own. */
export async function joiningLeftPoll(context: PollsContext, submission: Submission): Promise<Submission> {
  const name = nameOf(context, submission);
  if (name === null) return submission;
  const joins = await context.bus.redis.getdel(name).catch(() => null);
  return joins !== null && isPollId(joins) ? { ...submission, joins } : submission;
}

/** Call it before answering with this error. */
export async function noteLeftPoll(context: PollsContext, submission: Submission, error: unknown): Promise<void> {
  const pollId = error instanceof ApiError ? error.circumstances.leavesPoll : undefined;
  const name = nameOf(context, submission);
  if (pollId === undefined || name === null) return;
  await context.bus.redis.set(name, pollId, 'EX', KEPT_S).catch(() => undefined);
}

/** Null for callers who pay nothing, and for requests with an Idempotency-Key, which find the poll anyway. */
function nameOf({ bus }: PollsContext, { accountId, idempotency, order }: Submission): string | null {
  if (accountId === null || idempotency) return null;
  return `${bus.prefix}:left:{${fingerprintOf({ accountId, order })}}`;
}
