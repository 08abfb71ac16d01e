import type { Bus } from '@eloquentpoll/bus';
import type { PollSpec, ServiceTier } from '@eloquentpoll/contracts';
import { isFree, laneOf, newPollId, type PollOrder } from '@eloquentpoll/polls';
import {
  type Acceptance,
  findPoll,
  forgetPollKey,
  type IdempotencyKey,
  type TenantLimits,
} from '@eloquentpoll/storage';
import { prepareAccountEndpoint } from '../../accounts/webhooks/webhooks.ts';
import { ApiError } from '../../http/api-error.ts';
import type { PollsContext } from '../context.ts';
import { readRun } from '../read/read-run.ts';
import type { RunView } from '../read/run-view.ts';
import { ceilingFor } from './ceiling-for.ts';
import { countAccepted } from './count-accepted.ts';
import { acceptFailure, knownOf } from './outcome-unknown.ts';
import type { PollFollower } from './poll-follower.ts';
import { preparePoll } from './prepare-poll.ts';
import { reasonOfRefusal } from './refusals.ts';
import { whyRefused } from './why-refused.ts';

// Hold and poll are stored in one transaction; after that the poll ends, whatever happens to this process. The queue
// only makes it start sooner: the workers' sweep finds a poll that was not queued.

export interface Submission {
  order: PollOrder;
  /** Null for a caller without an account, who may run free polls only. */
  accountId: string | null;
  /** Running polls are counted per tenant: an account, or an anonymous caller's network. */
  tenant: string;
  /** The API key of the request; it has its own limit of running polls. */
  keyId: string | undefined;
  /** The operation that submitted the poll; idempotency keys are scoped to it. */
  entryPoint: string;
  requestId: string;
  traceparent?: string | undefined;
  idempotency?: IdempotencyKey | undefined;
  /** Id of an earlier poll of the same account and order whose caller has not received an answer; it is joined. */
  joins?: string | undefined;
  /** The caller's name for the idempotency key, if it is not sent in the header. */
  keyName?: string | undefined;
  /** An agent's context id, which groups its tasks. */
  contextId?: string | undefined;
}

export interface Submitted {
  pollId: string;
  /** `resultId`, `spec` and `deadlineMs` belong to this request; a joined poll has its own. */
  resultId: string;
  /** The run of an earlier request with the same Idempotency-Key; null for a new poll. */
  joined: RunView | null;
  spec: PollSpec;
  /** Time from now until the poll must have ended. */
  deadlineMs: number;
}

/** Makes a poll, or joins the one named by `joins` or by its Idempotency-Key. The follower misses no message of it. */
export async function submitPoll(
  context: PollsContext,
  submission: Submission,
  follower?: PollFollower,
): Promise<Submitted> {
  const left = await joinLeft(context, submission, follower);
  if (left) return left;
  const submitted = await submitOnce(context, submission, follower);
  const { joined, pollId } = submitted;
  if (joined?.status !== 'failed' || joined.resultId !== null || !submission.idempotency) return submitted;
  // A poll that was given up cost nothing: release its key and make a new poll.
  await forgetPollKey(context.storage, submission.idempotency, pollId);
  return submitOnce(context, submission, follower);
}

/** Null when there is no such poll, or when it ended without a result. */
async function joinLeft(
  context: PollsContext,
  { accountId, joins }: Submission,
  follower?: PollFollower,
): Promise<Submitted | null> {
  if (joins === undefined) return null;
  return knownOf({ pollId: joins, accountId }, async () => {
    const poll = await findPoll(context.storage, joins);
    const joined = poll?.accountId === accountId ? await readRun(context, joins) : null;
    if (!poll || !joined || (joined.status === 'failed' && joined.resultId === null)) return null;
    await follower?.subscribe(joins);
    return { pollId: joins, resultId: poll.resultId, joined, spec: poll.spec, deadlineMs: poll.remainingMs };
  });
}

async function submitOnce(context: PollsContext, submission: Submission, follower?: PollFollower): Promise<Submitted> {
  const newId = newPollId(context.config.cell);
  // In parallel with the transaction, because the poll nearly always gets the new id.
  const subscribed = follower?.subscribe(newId, { isNew: true });
  const isAwaited = follower !== undefined;
  const { pollId, isNew, rank, ...prepared } = await accept(context, submission, { newId, isAwaited });
  await (pollId === newId ? subscribed : follower?.subscribe(pollId));
  if (isNew) {
    // Not awaited: the poll is accepted, and its end will be noticed in any case.
    const { tenant, requestId } = submission;
    const lane = laneOf(prepared.spec);
    void enqueueIfPossible(context, pollId, requestId, { lane, tenant, place: { rank, isAwaited } });
    return { pollId, joined: null, ...prepared };
  }
  const joined = await readRun(context, pollId);
  if (!joined) throw new ApiError('service_unavailable', { retryAfterSeconds: 1 });
  return { pollId, joined, ...prepared };
}

async function accept(
  context: PollsContext,
  submission: Submission,
  { newId, isAwaited }: { newId: string; isAwaited: boolean },
) {
  const { order, accountId, tenant, keyId, entryPoint, requestId, traceparent, idempotency, contextId } = submission;
  const prepared = await preparePoll(context, { order, accountId, tenant, pollId: newId });
  const { resultId, spec, metadata, holdU, providerMaxU, deadlineMs, auditVersion, auditQuestion } = prepared;
  if (order.webhook_url !== undefined && accountId !== null) await prepareAccountEndpoint(context, accountId);
  const attributes = { panel: spec.panel_name, entry_point: entryPoint };
  const span = context.tracer?.start('accept poll', 'internal', traceparent, attributes);
  const free = isFree(spec.panel_name);
  const startWithinMs = deadlineMs * context.config.maxQueueShare;
  const acceptance: Acceptance = {
    poll: {
      id: newId,
      resultId,
      accountId,
      tenant,
      keyId,
      isAwaited,
      spec,
      deadlineMs,
      entryPoint,
      requestId,
      contextId,
      metadata,
      webhookUrl: order.webhook_url,
      // The worker's spans are children of this span.
      traceparent: span?.traceparent ?? traceparent,
      auditVersion,
      auditQuestion,
    },
    holdU,
    limits: tenantLimits(context, { accountId, lane: laneOf(spec), startWithinMs }),
    idempotency,
    free: free ? { dailyCapU: context.config.freeDailyCapU } : undefined,
    providerMaxU,
    ceiling: ceilingFor(context, spec),
  };
  const accepted = await context.acceptPoll(acceptance).catch((error: unknown) => {
    span?.end({}, 'failed');
    throw acceptFailure(error, { pollId: newId, accountId });
  });
  span?.end({ outcome: accepted.kind });
  const made = { resultId, spec, deadlineMs };
  if (accepted.kind === 'accepted') {
    countAccepted(context, prepared);
    return { ...made, pollId: accepted.pollId, isNew: true, rank: accepted.rank };
  }
  if (accepted.kind === 'joined') return { ...made, pollId: accepted.pollId, isNew: false, rank: 0 };
  context.metrics.counter(
    'eloquentpoll_polls_refused_total',
    reasonOfRefusal(accepted, context.config.freeDailyCapU),
  ).n += 1;
  throw await whyRefused(context, accepted, { spec, holdU, keyId, keyName: submission.keyName, startWithinMs });
}

interface Limited {
  accountId: string | null;
  lane: ServiceTier;
  startWithinMs: number;
}

/** Flex polls are meant to wait: they do not count towards the limits of standard polls, and none starts too late. */
function tenantLimits({ config, outlook }: PollsContext, { accountId, lane, startWithinMs }: Limited): TenantLimits {
  if (lane === 'flex') return { running: config.maxRunningFlexPolls };
  const { account, key, network } = config.maxRunningPolls;
  const waiting = outlook.maxWaiting(startWithinMs);
  return accountId === null ? { running: network, waiting } : { running: account, runningOfKey: key, waiting };
}

async function enqueueIfPossible(
  { bus, log, metrics }: PollsContext,
  pollId: string,
  requestId: string,
  options: Parameters<Bus['enqueuePoll']>[1],
): Promise<void> {
  try {
    await bus.enqueuePoll(pollId, options);
  } catch (error) {
    metrics.counter('eloquentpoll_polls_not_queued_total').n += 1;
    log.warn({ poll_id: pollId, request_id: requestId, err: error }, 'poll.enqueue_failed');
  }
}
