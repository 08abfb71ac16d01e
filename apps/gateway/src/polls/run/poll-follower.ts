import type { Watch } from '@eloquentpoll/bus';
import type { PollResponse, ProgressSnapshot } from '@eloquentpoll/contracts';
import { findRunStates } from '@eloquentpoll/storage';
import type { PollsContext } from '../context.ts';
import { runFromPostgres } from '../read/read-run.ts';
import type { RunView } from '../read/run-view.ts';
import type { EndListener } from './poll-rereads.ts';

// Follows one poll to its end: subscribe, read, forward what is newer. Pub/sub loses messages, so Postgres is reread as
// well. A class with callbacks instead of promises: thousands of followers wait at a time, and each costs one object.

/** How long after its deadline the end of a poll may still be stored. */
export const END_GRACE_MS = 8_000;

export interface PollListener {
  /** A snapshot of the running poll, newer than all snapshots before it. */
  onSnapshot?: ((snapshot: ProgressSnapshot) => void) | undefined;
  /** Called once, as the last call. */
  onEnd(end: PollEnd): void;
}

export interface PollEnd {
  status: 'completed' | 'failed';
  /** Null when the poll was given up. */
  resultId: string | null;
  /** Higher than the number of every snapshot before it. */
  seq: number;
  /** The result, if it was announced with the end; otherwise it is in Postgres. */
  result: PollResponse | null;
}

interface FollowFrom {
  /** Number of the newest snapshot that the listener already has. */
  after?: number;
  /** The poll may have begun before the subscription: read its state once. */
  catchUp: boolean;
}

export class PollFollower implements Disposable, EndListener {
  readonly #context: PollsContext;
  readonly #channel: 'snapshots' | 'end';
  #pollId = '';
  #subscription: Watch | null = null;
  #listener: PollListener | null = null;
  #seq = -1;
  /** The newest message that arrived before there was a listener. */
  #early: ProgressSnapshot | null | undefined;
  #reading = false;
  #closed = false;

  /** With `end` the follower is not woken by each vote. */
  constructor(context: PollsContext, channel: 'snapshots' | 'end' = 'snapshots') {
    this.#context = context;
    this.#channel = channel;
  }

  /** Call it before the poll can begin, unless it began earlier. Without Redis only the reads of Postgres remain. */
  async subscribe(pollId: string, { isNew = false } = {}): Promise<void> {
    this.#subscription?.close();
    this.#subscription = null;
    this.#pollId = pollId;
    const { bus, log } = this.#context;
    try {
      // `watchEnd` works for new polls only: the end of an older poll may be sent to another process.
      const subscription = await (isNew && this.#channel === 'end'
        ? bus.watchEnd(pollId, this.#hear)
        : bus.watchPoll(pollId, this.#hear));
      if (this.#closed || this.#pollId !== pollId) subscription.close();
      else this.#subscription = subscription;
    } catch (error) {
      log.warn({ poll_id: pollId, err: error }, 'poll.subscription_failed');
    }
  }

  /** Messages since the subscription are delivered first. */
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
   * Reads the poll once more when its end is overdue. True: the listener got the end, is about to, or has left. False:
   * it gets nothing more, because the poll still runs or Postgres does not answer. Its worker may still store the end.
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

  /** Stops at once; the listener gets nothing more. */
  [Symbol.dispose](): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#subscription?.close();
    if (this.#listener) this.#context.rereads.remove(this.#pollId, this);
  }

  /** Null means that messages may have been lost. */
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
      // Postgres is read again within two seconds.
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
