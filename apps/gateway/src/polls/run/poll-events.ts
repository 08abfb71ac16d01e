import type { PollResponse, ProgressSnapshot, StreamComplete, VoteResult } from '@eloquentpoll/contracts';
import { atNoCost } from '@eloquentpoll/polls';
import type { IdempotencyKey } from '@eloquentpoll/storage';
import type { EventStream, StreamSource } from '../../http/sse/event-stream.ts';
import type { PollsContext } from '../context.ts';
import type { ShortOrder } from '../order/short-order.ts';
import { toQuickResult } from '../read/quick-result.ts';
import { type PollFailure, whyFailed, whyWithoutResult } from '../read/why-failed.ts';
import type { PollEnd, PollFollower, PollListener } from './poll-follower.ts';
import { endStream, readOutcomeUntil } from './read-outcome.ts';
import { completeEvent, errorEvent, progressEvent, watchedEndEvent } from './stream-events.ts';

interface Streamed {
  pollId: string;
  options: readonly string[];
  /** False: send nothing between the first event and the last. */
  progress: boolean;
  requestId: string;
  key: IdempotencyKey | undefined;
  /** For people who have only the poll's address: no costs, and an end without the result. */
  isWatched: boolean;
  /** Only the operator pays, so the caller is shown no cost. */
  isFree: boolean;
  quickResultOf: ShortOrder['optionsSource'] | undefined;
}

/** Writes what a follower receives to an event stream. The follower is closed with the stream. */
export class PollEvents implements PollListener, StreamSource {
  readonly #context: PollsContext;
  readonly #stream: EventStream;
  readonly #follower: PollFollower;
  readonly #poll: Streamed;

  constructor(context: PollsContext, stream: EventStream, follower: PollFollower, poll: Streamed) {
    this.#context = context;
    this.#stream = stream;
    this.#follower = follower;
    this.#poll = poll;
    stream.source = this;
  }

  onSnapshot(snapshot: ProgressSnapshot): void {
    const { pollId, options, progress, isWatched, isFree } = this.#poll;
    const shown = isWatched || isFree ? withoutCost(snapshot) : snapshot;
    if (progress) this.#stream.send(progressEvent(pollId, options, shown));
  }

  onEnd(end: PollEnd): void {
    endStream(this.#context, this.#stream, this.#poll.pollId, () => this.#finish(end));
  }

  onOverdue(): void {
    void this.#giveUp();
  }

  onClose(): void {
    this.#follower[Symbol.dispose]();
  }

  async #giveUp(): Promise<void> {
    // No error event: it would claim that the poll failed, but it may still end well and be billed.
    if (!(await this.#follower.readLast())) this.#stream.end();
  }

  async #finish(end: PollEnd): Promise<void> {
    const { pollId, key } = this.#poll;
    const result = await readOutcomeUntil(this.#context, pollId, end, key, () => this.#stream.closed);
    // The client reconnects with Last-Event-ID and gets the end once Postgres is back.
    if (result === undefined) return this.#stream.end();
    if (!result) return this.#fail(await whyWithoutResult(this.#context, pollId, 'poll_execution_failed'), end.seq);
    if (this.#poll.isWatched) return this.#stream.end(watchedEndEvent(pollId, end.seq, result.poll_id));
    if (result.status === 'failed') return this.#fail(whyFailed(result), end.seq);
    this.#stream.end(completeEvent(pollId, end.seq, this.#endOf(result)));
  }

  #endOf(result: PollResponse): Omit<StreamComplete, 'seq' | 'session_id'> {
    const { quickResultOf, isFree } = this.#poll;
    const shown = isFree ? atNoCost(result) : result;
    return quickResultOf === undefined
      ? shown
      : { ...toQuickResult(this.#context.config, result, quickResultOf), ...shown };
  }

  #fail(failure: PollFailure, seq: number): void {
    const { pollId, requestId } = this.#poll;
    this.#stream.end(errorEvent(this.#context.config, pollId, seq, failure, requestId));
  }
}

export const withoutCost = <T extends { vote: VoteResult | null }>(snapshot: T): T => ({
  ...snapshot,
  vote: snapshot.vote && { ...snapshot.vote, estimated_cost: 0 },
});
