import { isPaidByPool, isPollId } from '@eloquentpoll/polls';
import { findPoll, type IdempotencyKey, type Poll } from '@eloquentpoll/storage';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ApiError } from '../../http/api-error.ts';
import { markReplayed } from '../../http/hooks/idempotency-key.ts';
import { openEventStream } from '../../http/sse/open-event-stream.ts';
import type { PollsContext } from '../context.ts';
import type { ShortOrder } from '../order/short-order.ts';
import { PollEvents, withoutCost } from './poll-events.ts';
import { END_GRACE_MS, PollFollower } from './poll-follower.ts';
import { firstEvent, initialSnapshot, LAST, RETRY_ONLY, type StreamedPoll } from './stream-events.ts';
import { type Submission, submitPoll } from './submit-poll.ts';

// Answers a request with the event stream of a new or running poll. Everything that can be refused is refused before
// the first byte. A caller who disconnects does not end the poll.

interface StreamOptions {
  /** False: one `started`, then nothing until the end. */
  progress?: boolean;
  isWatched?: boolean;
  /** The source of the options that we supplied; the end then also has the fields of a quick poll. */
  quickResultOf?: ShortOrder['optionsSource'] | undefined;
}

interface StreamStart {
  poll: StreamedPoll;
  /** The first bytes of the stream. */
  opening: string;
  /** Number of the newest snapshot that the caller has after the opening. */
  seq: number;
  /** Time left until the poll's deadline. */
  leftMs: number;
  /** Newer snapshots may exist already. */
  catchUp: boolean;
}

/** Runs a poll, or joins the one that an earlier request with the same Idempotency-Key made. */
export async function streamPoll(
  context: PollsContext,
  request: FastifyRequest,
  reply: FastifyReply,
  submission: Submission,
  options: StreamOptions = {},
): Promise<undefined> {
  refuseWhileClosing(context);
  using opened = new DisposableStack();
  opened.defer(await context.streamSlots.take(request));
  const follower = opened.use(new PollFollower(context));
  const { pollId, resultId, joined, spec, deadlineMs } = await submitPoll(context, submission, follower);
  const start = joined
    ? await startOfRunning(context, await existing(context, pollId), -1)
    : startOfNew(
        context,
        {
          ...{ pollId, resultId, spec, accountId: submission.accountId, startedAt: new Date() },
          isFree: isPaidByPool(spec.panel_name, submission.entryPoint),
        },
        deadlineMs,
      );
  if (joined) markReplayed(reply);
  send(context, request, reply, opened.move(), follower, start, options, submission.idempotency);
}

/**
 * Continues a stream of the caller's own poll after the event that `lastEventId` names; answers 204 after the last
 * event. The id of a poll without an event number starts a stream from the beginning.
 */
export async function resumeStream(
  context: PollsContext,
  request: FastifyRequest,
  reply: FastifyReply,
  { lastEventId, accountId, ...options }: StreamOptions & { lastEventId: string; accountId: string },
): Promise<FastifyReply | undefined> {
  refuseWhileClosing(context);
  using opened = new DisposableStack();
  opened.defer(await context.streamSlots.take(request));
  const [pollId = '', seq = ''] = lastEventId.split(':');
  const poll = isPollId(pollId) && /^(\d{0,9}|end)$/.test(seq) ? await findPoll(context.storage, pollId) : null;
  if (!poll || poll.accountId !== accountId) throw new ApiError('session_not_found');
  // A browser's EventSource keeps reconnecting until it gets a 204.
  if (seq === LAST) return reply.code(204).send();
  const follower = opened.use(new PollFollower(context));
  if (poll.status === 'running') await follower.subscribe(pollId);
  const start = await startOfRunning(context, poll, seq === '' ? -1 : Number(seq));
  send(context, request, reply, opened.move(), follower, start, options);
}

/** For people who have the address of a running poll; the events do not show its cost. */
export async function watchPoll(
  context: PollsContext,
  request: FastifyRequest,
  reply: FastifyReply,
  poll: Poll,
): Promise<undefined> {
  refuseWhileClosing(context);
  using opened = new DisposableStack();
  opened.defer(await context.streamSlots.take(request));
  const follower = opened.use(new PollFollower(context));
  if (poll.status === 'running') await follower.subscribe(poll.id);
  const start = await startOfRunning(context, poll, -1, true);
  send(context, request, reply, opened.move(), follower, start, { isWatched: true });
}

export function refuseWhileClosing({ shutdown }: PollsContext): void {
  if (shutdown.closing.aborted) throw new ApiError('service_unavailable', { retryAfterSeconds: 1 });
}

async function existing({ storage }: PollsContext, pollId: string): Promise<Poll> {
  const poll = await findPoll(storage, pollId);
  if (!poll) throw new ApiError('service_unavailable', { retryAfterSeconds: 1 });
  return poll;
}

function startOfNew({ config }: PollsContext, poll: StreamedPoll, deadlineMs: number): StreamStart {
  const opening = firstEvent(config, poll, initialSnapshot(poll));
  return { poll, opening, seq: 0, leftMs: deadlineMs, catchUp: false };
}

/** The opening has the newest snapshot, unless the caller has it already. */
async function startOfRunning(
  { bus, config }: PollsContext,
  found: Poll,
  after: number,
  isWatched = false,
): Promise<StreamStart> {
  const { id: pollId, resultId, accountId, spec, createdAt: startedAt } = found;
  const isFree = isPaidByPool(spec.panel_name, found.entryPoint);
  const poll = { pollId, resultId, accountId, spec, isFree, startedAt };
  const record = await bus.runs.read(found.id).catch(() => null);
  const newest = record?.snapshot.status === 'running' ? record.snapshot : initialSnapshot(poll);
  const shown = isWatched || isFree ? withoutCost(newest) : newest;
  const opening = newest.seq > after ? firstEvent(config, poll, shown) : RETRY_ONLY;
  return { poll, opening, seq: Math.max(newest.seq, after), leftMs: found.remainingMs, catchUp: true };
}

function send(
  context: PollsContext,
  request: FastifyRequest,
  reply: FastifyReply,
  owned: DisposableStack,
  follower: PollFollower,
  { poll, opening, seq, leftMs, catchUp }: StreamStart,
  { progress = true, isWatched = false, quickResultOf }: StreamOptions,
  key?: IdempotencyKey,
): void {
  const stream = openEventStream(context.streams, request, reply, leftMs + END_GRACE_MS);
  if (!stream) {
    owned.dispose();
    return;
  }
  reply.raw.once('close', () => owned.dispose());
  stream.send(opening);
  const { pollId, spec, isFree } = poll;
  const events = new PollEvents(context, stream, follower, {
    pollId,
    options: spec.options,
    progress,
    requestId: request.id,
    key,
    isWatched,
    isFree,
    quickResultOf,
  });
  follower.follow(pollId, events, { after: seq, catchUp });
}
