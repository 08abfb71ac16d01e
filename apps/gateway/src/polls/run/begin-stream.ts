import type { Watch } from '@eloquentpoll/bus';
import { findPoll, forgetPollKey, type Poll } from '@eloquentpoll/storage';
import { ApiError } from '../../http/api-error.ts';
import type { PollsContext } from '../context.ts';
import { isPollId } from '../order/poll-ids.ts';
import type { PollRelay } from './relay-poll.ts';
import { firstEvent, RETRY_ONLY, type StreamedPoll, unheard } from './stream-events.ts';
import { type Submission, submitPoll, watchIfPossible } from './submit-poll.ts';

// The two ways into a stream: a poll that begins with it, or one that is under way. Whatever can be refused is refused
// here, before the first byte.

export interface StreamStart {
  poll: StreamedPoll;
  watch: Watch | null;
  /** What is written first. */
  opening: string;
  /** Number of the newest event that the caller then has. */
  seq: number;
  /** Milliseconds until the poll has ended. */
  leftMs: number;
  /** Somebody began the poll before, so there may be news already. */
  joined: boolean;
  givenUp?: (() => Promise<void>) | undefined;
}

/** A new poll, or the one that an earlier request with the same Idempotency-Key began. */
export async function beginStream(
  context: PollsContext,
  submission: Submission,
  relay: PollRelay,
): Promise<StreamStart> {
  const { pollId, joined, spec, deadlineMs, watch } = await submitPoll(context, submission, {
    to: 'everything',
    hear: relay.hear,
  });
  const { idempotency, entryPoint } = submission;
  const givenUp = idempotency && (() => forgetPollKey(context.storage, { ...idempotency, entryPoint }, pollId));
  if (!joined) {
    const poll = { pollId, spec, startedAt: new Date() };
    const opening = firstEvent(context.config, poll, unheard(poll));
    return { poll, watch, opening, seq: 0, leftMs: deadlineMs, joined, givenUp };
  }
  const poll = await orClose(watch, findPoll(context.storage, pollId));
  if (!poll) throw new ApiError('service_unavailable', { retryAfterSeconds: 1 });
  return { ...(await underWay(context, poll, watch, -1)), givenUp };
}

/** The stream of a poll of the caller's own that was cut after the event that `lastEventId` names. */
export async function resumeStream(
  context: PollsContext,
  lastEventId: string,
  accountId: string,
  relay: PollRelay,
): Promise<StreamStart> {
  const [pollId = '', seq] = lastEventId.split(':');
  const poll = isPollId(pollId) && /^\d{1,9}$/.test(seq ?? '') ? await findPoll(context.storage, pollId) : null;
  if (!poll || poll.accountId !== accountId) throw new ApiError('session_not_found');
  const watch =
    poll.status === 'running' ? await watchIfPossible(context, pollId, { to: 'everything', hear: relay.hear }) : null;
  return underWay(context, poll, watch, Number(seq));
}

/** Its newest snapshot comes first, unless the caller has it; what has ended since then follows at once. */
async function underWay(context: PollsContext, found: Poll, watch: Watch | null, after: number): Promise<StreamStart> {
  const poll = { pollId: found.id, spec: found.spec, startedAt: found.createdAt };
  const state = await context.bus.runs.read(found.id).catch(() => null);
  const newest = state?.snapshot.status === 'running' ? state.snapshot : unheard(poll);
  const opening = newest.seq > after ? firstEvent(context.config, poll, newest) : RETRY_ONLY;
  const leftMs = found.deadlineAt.getTime() - Date.now();
  return { poll, watch, opening, seq: Math.max(newest.seq, after), leftMs, joined: true };
}

async function orClose<T>(watch: Watch | null, work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    watch?.close();
    throw error;
  }
}
