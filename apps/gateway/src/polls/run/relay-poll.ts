import { setTimeout as wait } from 'node:timers/promises';
import type { Watch } from '@eloquentpoll/bus';
import type { ErrorCode, PollResponse, ProgressSnapshot } from '@eloquentpoll/contracts';
import { findResultOfPoll } from '@eloquentpoll/storage';
import type { EventStream, StreamOwner } from '../../http/sse/event-stream.ts';
import type { PollsContext } from '../context.ts';
import { stored } from '../read/open-run.ts';
import type { Waiter } from '../read/run-memory.ts';
import { whyFailed } from '../read/why-failed.ts';
import { completeEvent, errorEvent, progressEvent } from './stream-events.ts';

// From what a worker announces to what a stream tells. Snapshots are whole and numbered: a later one is forwarded, any
// other is not news, and one that was missed is made up for by the next. After a gap the record is read again. The end
// is what is stored, whether it was announced (the worker does that after the commit) or noticed in Postgres.
// Thousands of these wait at a time, so what they hold is one object.

export interface Relayed {
  pollId: string;
  options: readonly string[];
  /** Number of the newest event that the reader has. */
  seq: number;
  /** False: between the first event and the last there is silence. */
  progress: boolean;
  requestId: string;
  /** Called when the poll ended without being run, and cost nothing. */
  givenUp?: (() => Promise<void>) | undefined;
}

const TRY_AGAIN_MS = 2_000;
const MOST_TRIES = 15;

export class PollRelay implements StreamOwner, Waiter {
  readonly #context: PollsContext;
  #stream: EventStream | null = null;
  #from: Relayed | null = null;
  #watch: Watch | null = null;
  #seq = -1;
  #early: ProgressSnapshot | null | undefined;
  #reading = false;
  #ending = false;

  constructor(context: PollsContext) {
    this.#context = context;
  }

  /** For the subscription, which begins before there is a stream: what comes early is kept. */
  readonly hear = (news: ProgressSnapshot | null): void => {
    if (!this.#stream) this.#early = news;
    else if (!this.#stream.closed && !this.#ending) this.#forward(this.#stream, news);
  };

  /** Begins to forward. The watch is closed with the stream. */
  into(stream: EventStream, from: Relayed, watch: Watch | null): void {
    this.#stream = stream;
    this.#from = from;
    this.#watch = watch;
    this.#seq = from.seq;
    stream.owner = this;
    this.#context.sessions.watch(from.pollId, this);
    const early = this.#early;
    this.#early = undefined;
    if (early !== undefined) this.hear(early);
  }

  /** The end of the poll was noticed in Postgres. */
  ended(): void {
    void this.#finish(null);
  }

  overdue(): void {
    this.#ending = true;
    this.#fail('poll_execution_failed', null);
  }

  closed(): void {
    this.#watch?.close();
    if (this.#from) this.#context.sessions.unwatch(this.#from.pollId, this);
  }

  #forward(stream: EventStream, news: ProgressSnapshot | null): void {
    const { pollId, options, progress } = this.#from!;
    if (news === null) void this.#read();
    else if (news.status !== 'running') void this.#finish(news);
    else if (news.seq > this.#seq) {
      this.#seq = news.seq;
      if (progress) stream.send(progressEvent(pollId, options, news));
    }
  }

  /** Something may have been missed. */
  async #read(): Promise<void> {
    if (this.#reading) return;
    this.#reading = true;
    const { pollId } = this.#from!;
    try {
      const state = await this.#context.bus.runs.read(pollId).catch(() => null);
      if (state) this.hear(state.snapshot);
      else if ((await stored(this.#context, pollId))?.status !== 'running') await this.#finish(null);
    } catch (error) {
      // The end is looked for every two seconds anyway.
      this.#context.log.warn({ pollId, err: error }, 'stream not read again');
    } finally {
      this.#reading = false;
    }
  }

  async #finish(news: ProgressSnapshot | null): Promise<void> {
    if (this.#ending) return;
    this.#ending = true;
    if (news?.result && news.status === 'completed') return this.#complete(news.result, news.seq);
    const { pollId, givenUp } = this.#from!;
    for (let tries = 0; tries < MOST_TRIES && !this.#stream!.closed; tries++) {
      try {
        const result = await findResultOfPoll(this.#context.storage, pollId);
        if (result?.status === 'failed') return this.#fail(whyFailed(result.detail), news);
        if (result) return this.#complete(result.detail, news?.seq);
        await givenUp?.();
        return this.#fail('poll_execution_failed', news);
      } catch (error) {
        this.#context.log.warn({ pollId, err: error }, 'end of a stream not read');
        await wait(TRY_AGAIN_MS, undefined, { ref: false });
      }
    }
    // The reader comes back with Last-Event-ID, and finds the end when Postgres is there again.
    this.#stream!.end();
  }

  #complete(result: PollResponse, number = 0): void {
    this.#end(completeEvent(this.#from!.pollId, Math.max(number, this.#seq + 1), result));
  }

  #fail(code: ErrorCode, news: ProgressSnapshot | null): void {
    const { pollId, requestId } = this.#from!;
    const number = Math.max(news?.seq ?? 0, this.#seq + 1);
    this.#end(errorEvent(this.#context.config, pollId, number, code, requestId));
  }

  /** A slow reader may take a while to read the last event; nothing more is listened for. */
  #end(event: string): void {
    this.#stream!.end(event);
    this.closed();
  }
}
