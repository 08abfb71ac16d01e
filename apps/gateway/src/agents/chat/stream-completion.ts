import type { Occurrence } from '@eloquentpoll/contracts';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { markReplayed } from '../../http/hooks/idempotency-key.ts';
import type { EventStream, StreamSource } from '../../http/sse/event-stream.ts';
import { openEventStream } from '../../http/sse/open-event-stream.ts';
import type { PollsContext } from '../../polls/context.ts';
import { whyFailed } from '../../polls/read/why-failed.ts';
import { outcomeUnknown } from '../../polls/run/outcome-unknown.ts';
import { END_GRACE_MS, type PollEnd, PollFollower, type PollListener } from '../../polls/run/poll-follower.ts';
import { endStream, readOutcomeUntil } from '../../polls/run/read-outcome.ts';
import { refuseWhileClosing } from '../../polls/run/stream-poll.ts';
import { type Submission, submitPoll } from '../../polls/run/submit-poll.ts';
import { type ChunkedCompletion, errorChunk, firstChunk, lastChunks } from './completion-chunks.ts';
import { joiningLeftPoll, noteLeftPoll } from './left-polls.ts';

/** Runs or joins a poll and streams its completion in chunks. A caller who disconnects does not end the poll. */
export async function streamCompletion(
  context: PollsContext,
  request: FastifyRequest,
  reply: FastifyReply,
  sent: Submission,
  asked: ChunkedCompletion['asked'],
): Promise<undefined> {
  refuseWhileClosing(context);
  using opened = new DisposableStack();
  opened.defer(await context.streamSlots.take(request));
  // After the steps that may refuse the request, because a poll that was left can be joined only once.
  const submission = await joiningLeftPoll(context, sent);
  const follower = opened.use(new PollFollower(context, 'end'));
  const { pollId, joined, deadlineMs } = await submitPoll(context, submission, follower).catch(
    async (error: unknown) => {
      await noteLeftPoll(context, submission, error);
      throw error;
    },
  );
  if (joined) markReplayed(reply);
  const stream = openEventStream(context.streams, request, reply, deadlineMs + END_GRACE_MS);
  if (!stream) return;
  const owned = opened.move();
  reply.raw.once('close', () => owned.dispose());
  const completion = { pollId, asked };
  stream.send(firstChunk(completion));
  const events = new CompletionEvents(context, stream, follower, completion, request.id, submission);
  follower.follow(pollId, events, { catchUp: joined !== null });
}

class CompletionEvents implements PollListener, StreamSource {
  readonly #context: PollsContext;
  readonly #stream: EventStream;
  readonly #follower: PollFollower;
  readonly #completion: ChunkedCompletion;
  readonly #requestId: string;
  readonly #submission: Submission;

  constructor(
    context: PollsContext,
    stream: EventStream,
    follower: PollFollower,
    completion: ChunkedCompletion,
    requestId: string,
    submission: Submission,
  ) {
    this.#context = context;
    this.#stream = stream;
    this.#follower = follower;
    this.#completion = completion;
    this.#requestId = requestId;
    this.#submission = submission;
    stream.source = this;
  }

  onEnd(end: PollEnd): void {
    endStream(this.#context, this.#stream, this.#completion.pollId, () => this.#finish(end));
  }

  onOverdue(): void {
    void this.#giveUp();
  }

  onClose(): void {
    this.#follower[Symbol.dispose]();
  }

  async #giveUp(): Promise<void> {
    if (!(await this.#follower.readLast())) await this.#failUnknown();
  }

  async #finish(end: PollEnd): Promise<void> {
    const { pollId } = this.#completion;
    const { idempotency } = this.#submission;
    const result = await readOutcomeUntil(this.#context, pollId, end, idempotency, () => this.#stream.closed);
    if (result === undefined) return await this.#failUnknown();
    if (result === null) return this.#fail({ code: 'poll_execution_failed' });
    if (result.status === 'failed') return this.#fail(whyFailed(result));
    this.#stream.end(lastChunks(this.#context.config, this.#completion, result));
  }

  async #failUnknown(): Promise<void> {
    const { pollId } = this.#completion;
    const unknown = outcomeUnknown({ pollId, accountId: this.#submission.accountId });
    const { code, circumstances } = unknown;
    if (this.#stream.closed) return;
    await noteLeftPoll(this.#context, this.#submission, unknown);
    this.#fail({ code, detail: circumstances.detail, members: circumstances.members });
  }

  #fail(failure: Omit<Occurrence, 'requestId'>): void {
    this.#stream.end(errorChunk({ ...failure, requestId: this.#requestId }));
  }
}
