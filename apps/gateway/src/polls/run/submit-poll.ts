import type { OnNews, Watch } from '@eloquentpoll/bus';
import type { PanelName, PollSpec } from '@eloquentpoll/contracts';
import { acceptPoll } from '@eloquentpoll/storage';
import { ApiError } from '../../http/api-error.ts';
import type { PollsContext } from '../context.ts';
import { decimalUsd } from '../order/decimal-usd.ts';
import { newPollId, newResultId } from '../order/poll-ids.ts';
import { isFree, type PollOrder } from '../order/poll-order.ts';
import { holdOf, specOf } from '../order/poll-spec.ts';

// The one way in. Money is set aside and the poll stored in one transaction; from then on it ends, whatever happens to
// this process. The queue only makes it soon: a poll that could not be queued is found by the workers' sweep.

export interface Submission {
  order: PollOrder;
  /** Whose poll it is; null for a caller without an account, whose poll has to be free. */
  accountId: string | null;
  /** The operation that the poll came by. */
  entryPoint: string;
  requestId: string;
  traceparent?: string | undefined;
  /** The caller's Idempotency-Key, whose it is, and the fingerprint of the request that it stands for. */
  idempotency?: { principal: string; key: string; fingerprint: string } | undefined;
}

/** Who listens, and to what: a listener to the end alone is not woken by each vote. */
export interface Listener {
  to: 'everything' | 'end';
  hear: OnNews;
}

export interface Submitted {
  pollId: string;
  /** An earlier request with the same Idempotency-Key made this poll. */
  joined: boolean;
  /** What this request came to; a poll that it joined was frozen before. */
  spec: PollSpec;
  /** When it has ended at the latest. */
  deadlineMs: number;
  /** Null without a listener, or while Redis is away: then only Postgres tells. */
  watch: Watch | null;
}

const DEADLINE_MS: Record<PanelName, number> = {
  broad: 120_000,
  strong: 120_000,
  fast: 45_000,
  free: 45_000,
  free_search: 120_000,
};

/** How long a poll of this panel may take. */
export const deadlineMsOf = (panel: PanelName): number => DEADLINE_MS[panel];

/**
 * With a listener, the subscription stands before the poll can begin, so that nothing is missed; it is made while the
 * poll is being accepted, for what is nearly always the poll's id.
 */
export async function submitPoll(
  context: PollsContext,
  submission: Submission,
  listener?: Listener,
): Promise<Submitted> {
  const deadlineMs = deadlineMsOf(submission.order.panel);
  const newId = newPollId();
  const watching = listener && watchIfPossible(context, newId, listener);
  const { pollId, joined, spec } = await accept(context, submission, newId, deadlineMs).catch(async (error) => {
    (await watching)?.close();
    throw error;
  });
  let watch = (await watching) ?? null;
  if (listener && pollId !== newId) {
    watch?.close();
    watch = await watchIfPossible(context, pollId, listener);
  }
  // Not waited for: the poll is accepted, and whoever waits for its end hears of it anyway.
  if (!joined) void enqueueIfPossible(context, pollId, submission.requestId);
  return { pollId, joined, spec, deadlineMs, watch };
}

async function accept(context: PollsContext, submission: Submission, newId: string, deadlineMs: number) {
  const { accountId, entryPoint, requestId, traceparent, idempotency } = submission;
  const spec = await specOf(context, submission.order);
  const holdU = holdOf(spec);
  const span = context.tracer?.start('accept poll', 'internal', traceparent, {
    panel: spec.panel_name,
    entry_point: entryPoint,
  });
  const accepted = await acceptPoll(context.storage, {
    poll: {
      id: newId,
      resultId: newResultId(new Date()),
      accountId,
      spec,
      deadlineMs,
      entryPoint,
      requestId,
      // The worker goes on from here.
      traceparent: span?.traceparent ?? traceparent,
    },
    holdU,
    idempotency: idempotency,
    free: isFree(spec.panel_name) ? { dailyCapU: context.config.freeDailyCapU } : undefined,
  });
  span?.end({ outcome: accepted.kind });
  if (accepted.kind === 'accepted')
    context.metrics.counter('eloquentpoll_polls_accepted_total', spec.panel_name).n += 1;
  switch (accepted.kind) {
    case 'accepted':
    case 'joined':
      return { pollId: accepted.pollId, joined: accepted.kind === 'joined', spec };
    case 'reused':
      throw new ApiError('idempotency_key_reused', {
        detail: 'This Idempotency-Key came with another body before: send that body again, or another key.',
      });
    case 'insufficient':
      if (accepted.retryAfterS !== null) throw usedUp(accepted.retryAfterS);
      throw new ApiError('insufficient_balance', {
        detail: `This poll may cost up to ${decimalUsd(holdU)} USD; the available balance is ${decimalUsd(accepted.availableU)} USD.`,
      });
    default:
      return accepted satisfies never;
  }
}

const usedUp = (retryAfterSeconds: number): ApiError =>
  new ApiError('rate_limited', {
    detail: "The day's budget for free polls is used up; it is filled again at midnight UTC.",
    retryAfterSeconds,
  });

/** Null while Redis is away. */
export async function watchIfPossible(
  { bus, log }: PollsContext,
  pollId: string,
  { to, hear }: Listener,
): Promise<Watch | null> {
  try {
    return await (to === 'end' ? bus.watchEnd(pollId, hear) : bus.watchPoll(pollId, hear));
  } catch (error) {
    log.warn({ pollId, err: error }, 'poll not watched');
    return null;
  }
}

async function enqueueIfPossible(
  { bus, log, metrics }: PollsContext,
  pollId: string,
  requestId: string,
): Promise<void> {
  try {
    await bus.enqueuePoll(pollId);
  } catch (error) {
    metrics.counter('eloquentpoll_polls_not_queued_total').n += 1;
    log.warn({ pollId, request_id: requestId, err: error }, 'poll not queued; the sweep will find it');
  }
}
