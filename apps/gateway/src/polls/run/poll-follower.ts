import type { Watch } from '@eloquentpoll/bus';
import type { PollResponse, ProgressSnapshot } from '@eloquentpoll/contracts';
import { findRunStates } from '@eloquentpoll/storage';
import type { PollsContext } from '../context.ts';
import { runFromPostgres } from '../read/read-run.ts';
import type { RunView } from '../read/run-view.ts';
import type { EndListener } from './poll-rereads.ts';

// Follows one poll to its end: subscribe, read, forward what is newer. Pub/sub loses messages, so Postgres is read
// again beside it. A class with callbacks, because thousands of these wait at a time: each is one object.

/** How late after its deadline a poll's end may still be stored. */
export const END_GRACE_MS = 8_000;

export interface PollListener {
  /** A snapshot of the running poll, newer than every one before it. */
  onSnapshot?: ((snapshot: ProgressSnapshot) => void) | undefined;
  /** Called once, and nothing after it. */
  onEnd(end: PollEnd): void;
}

export interface PollEnd {
  status: 'completed' | 'failed';
  /** Null when the poll was given up. */
  resultId: string | null;
  /** Higher than the number of every snapshot before it. */
  seq: number;
  /** The result, where it was announced with the end; otherwise it is in Postgres. */
  result: PollResponse | null;
}

interface FollowFrom {
  /** Number of the newest snapshot that the listener has. */
  after?: number;
  /** The poll may have begun before the subscription, so it is read once. */
  catchUp: boolean;
}

export class PollFollower implements Disposable, EndListener {
  readonly #context: PollsContext;
  readonly #channel: 'snapshots' | 'end';
  #pollId = '';
  #subscription: Watch | null = null;
  #listener: PollListener | null = null;
  #seq = -1;
  /** The newest message from before there was a listener. */
  #early: ProgressSnapshot | null | undefined;
  #reading = false;
  #closed = false;

  /** A follower of the end alone is not woken by each vote. */
  constructor(context: PollsContext, channel: 'snapshots' | 'end' = 'snapshots') {
    this.#context = context;
    this.#channel = channel;
  }

  /** To be called before the poll can begin, unless it did before. Without Redis only the reads of Postgres are left. */
  async subscribe(pollId: string, { isNew = false } = {}): Promise<void> {
    this.#subscription?.close();
    this.#subscription = null;
    this.#pollId = pollId;
    const { bus, log } = this.#context;
    try {
      // Another process may wait for the end of a poll that began before.
      const subscription = await (isNew && this.#channel === 'end'
        ? bus.watchEnd(pollId, this.#hear)
        : bus.watchPoll(pollId, this.#hear));
      if (this.#closed || this.#pollId !== pollId) subscription.close();
      else this.#subscription = subscription;
    } catch (error) {
      log.warn({ poll_id: pollId, err: error }, 'poll.subscription_failed');
    }
  }

  /** What was heard since the subscription comes first. */
  follow(pollId: string, listener: PollListener, { after = -1, catchUp }: FollowFrom): void {
    this.#pollId = pollId;
    this.#listener = listener;
    this.#seq = after;
    this.#context.rereads.add(pollId, this);
    const early = this.#early;
    this.#early = undefined;
    if (early !== undefined) this.#hear(early);
    if (catchUp) void this.#read();
  }

  endedInPostgres({ status, resultId }: RunView): void {
    if (status !== 'running') this.#end({ status, resultId, seq: 0, result: null });
  }

  /**
   * Reads the poll a last time, when its end is overdue. True: the listener has heard the end, or hears it now, or left.
   * False: it hears nothing more, because the poll still runs, or Postgres does not say. Its worker may store the end yet.
   */
  async readLast(): Promise<boolean> {
    const { storage, runs, log } = this.#context;
    try {
      const [stored] = this.#closed ? [] : await findRunStates(storage, [this.#pollId]);
      if (stored) this.endedInPostgres(runs.store(stored));
    } catch (error) {
      log.warn({ poll_id: this.#pollId, err: error }, 'poll.read_failed');
    }
    if (this.#closed) return true;
    this[Symbol.dispose]();
    return false;
  }

  /** Stops at once; the listener hears nothing more. */
  [Symbol.dispose](): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#subscription?.close();
    if (this.#listener) this.#context.rereads.remove(this.#pollId, this);
  }

  /** Null stands for messages that may have been lost. */
  readonly #hear = (snapshot: ProgressSnapshot | null): void => {
    if (this.#closed) return;
    if (!this.#listener) this.#early = snapshot;
    else if (snapshot === null) void this.#read();
    else if (snapshot.status !== 'running') {
      const { status, seq, result_id: resultId, result } = snapshot;
      this.#end({ status, resultId, seq, result });
    } else if (snapshot.seq > this.#seq) {
      this.#seq = snapshot.seq;
      this.#listener.onSnapshot?.(snapshot);
    }
  };

  async #read(): Promise<void> {
    if (this.#reading) return;
    this.#reading = true;
    const { bus, log } = this.#context;
    try {
      const record = await bus.runs.read(this.#pollId).catch(() => null);
      if (record) this.#hear(record.snapshot);
      else {
        const run = await runFromPostgres(this.#context, this.#pollId);
        if (run) this.endedInPostgres(run);
      }
    } catch (error) {
      // Postgres is read again in two seconds.
      log.warn({ poll_id: this.#pollId, err: error }, 'poll.read_failed');
    } finally {
      this.#reading = false;
    }
  }

  #end(end: PollEnd): void {
    if (this.#closed) return;
    this[Symbol.dispose]();
    this.#listener?.onEnd({ ...end, seq: Math.max(end.seq, this.#seq + 1) });
  }
}
