import type { FastifyReply, FastifyRequest } from 'fastify';
import { accountOf } from '../../http/access.ts';
import { ApiError } from '../../http/api-error.ts';
import { markReplayed } from '../../http/hooks/idempotency-key.ts';
import { openEventStream } from '../../http/sse/open-event-stream.ts';
import type { PollsContext } from '../../polls/context.ts';
import { END_GRACE_MS, PollFollower } from '../../polls/run/poll-follower.ts';
import { submitPoll } from '../../polls/run/submit-poll.ts';
import { type FoundTask, findTask } from './find-task.ts';
import { A2A_ERRORS } from './methods.ts';
import { type A2aCall, RpcProtocolError } from './read-call.ts';
import { madePoll, orderTask } from './send-task.ts';
import { readTask } from './task.ts';
import { TaskEvents } from './task-events.ts';

// Answers a request with the event stream of a new or running task. Everything that can be refused is refused before
// the first byte. A caller who disconnects does not end the poll, and can subscribe to the task again or read it.

interface Opened {
  context: PollsContext;
  request: FastifyRequest;
  reply: FastifyReply;
  call: A2aCall;
  follower: PollFollower;
  /** Resources that are closed with the stream. */
  owned: DisposableStack;
}

export async function streamTask(
  context: PollsContext,
  request: FastifyRequest,
  reply: FastifyReply,
  call: A2aCall,
): Promise<undefined> {
  refuseWhileClosing(context);
  const { submission, namesOf } = await orderTask(context, request, call);
  using owned = new DisposableStack();
  owned.defer(await context.streamSlots.take(request));
  const follower = owned.use(new PollFollower(context));
  const { pollId, joined } = await submitPoll(context, submission, follower);
  if (joined) markReplayed(reply);
  const poll = await madePoll(context, submission, pollId);
  await send({ context, request, reply, call, follower, owned }, { poll, names: namesOf(poll) });
}

export async function subscribeToTask(
  context: PollsContext,
  request: FastifyRequest,
  reply: FastifyReply,
  call: A2aCall,
): Promise<undefined> {
  refuseWhileClosing(context);
  const found = await findTask(context, accountOf(request), call.params.id);
  // Version 0.3 does not define this case: the stream then consists of the task alone.
  if (found.poll.status !== 'running' && call.version === '1.0') {
    throw new RpcProtocolError(A2A_ERRORS.unsupportedOperation, HAS_ENDED);
  }
  using owned = new DisposableStack();
  owned.defer(await context.streamSlots.take(request));
  const follower = owned.use(new PollFollower(context));
  if (found.poll.status === 'running') await follower.subscribe(found.poll.id);
  await send({ context, request, reply, call, follower, owned }, found);
}

const HAS_ENDED = 'The task has ended, so there is nothing to subscribe to; read it with GetTask.';

function refuseWhileClosing({ shutdown }: PollsContext): void {
  if (shutdown.closing.aborted) throw new ApiError('service_unavailable', { retryAfterSeconds: 1 });
}

async function send(opened: Opened, { poll, names }: FoundTask): Promise<void> {
  const { context, request, reply, call, follower } = opened;
  const task = await readTask(context, poll, names);
  const stream = openEventStream(context.streams, request, reply, poll.remainingMs + END_GRACE_MS);
  if (!stream) return;
  const owned = opened.owned.move();
  reply.raw.once('close', () => owned.dispose());
  const events = new TaskEvents(context, stream, follower, { poll, names, call });
  if (!events.begin(task)) return;
  // A new task has no snapshot yet; an older one may have several.
  follower.follow(poll.id, events, { catchUp: true });
}
