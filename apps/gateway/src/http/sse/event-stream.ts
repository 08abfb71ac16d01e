import type { ServerResponse } from 'node:http';

// One response that stays open and carries events. What a slow reader costs is bounded: while its socket is full only
// the newest event waits, and each replaces the one before, because each tells everything. The last event is written
// whatever waits. Nothing here waits for a reader; whoever does not read is cut by the wheel.
//
// Written by hand because of what an idle stream weighs: @fastify/sse holds request, reply, a promise and a timer for
// each, which came to 23-28 kB of RSS in an empty application, where this comes to 17-19 kB in ours.

/** More than the last event of the largest poll; who has this much unread is not reading. */
const MOST_BUFFERED_BYTES = 256 * 1024;

/** Sooner than after a cut that nobody expected. */
const COME_BACK = 'retry: 500\n\n';

/** What the wheel does with a stream whose socket is full, or not full any more. */
export interface Keeper {
  blocked(stream: EventStream): void;
  flowing(stream: EventStream): void;
  closed(stream: EventStream): void;
}

/** Whoever feeds a stream. */
export interface StreamOwner {
  /** Nothing can be told any more. */
  closed(): void;
  /** Nothing has come for longer than it can take. */
  overdue(): void;
}

export class EventStream {
  /** Its place on the wheel. */
  readonly slot: number;
  /** When the reader stopped reading, by the clock of the wheel; null while it reads. */
  blockedAt: number | null = null;
  owner: StreamOwner | null = null;
  /** By the clock of the wheel. */
  readonly overdueAt: number;
  #closed = false;
  #waiting: string | null = null;
  readonly #raw: ServerResponse;
  readonly #keeper: Keeper;

  constructor(raw: ServerResponse, keeper: Keeper, slot: number, overdueAt: number) {
    this.overdueAt = overdueAt;
    this.slot = slot;
    this.#raw = raw;
    this.#keeper = keeper;
    raw.on('close', () => this.#close());
    raw.on('error', ignore);
  }

  /** No event will get out any more: the reader left, or heard the last one. */
  get closed(): boolean {
    return this.#closed || this.#raw.writableEnded;
  }

  /** An event that a later one may replace before it was sent. */
  send(event: string): void {
    if (this.closed) return;
    if (this.blockedAt !== null) this.#waiting = event;
    else this.#write(event);
  }

  /** A sign of life, for whoever has had no other for a while. */
  beat(): void {
    if (!this.closed && this.blockedAt === null) this.#write(': alive\n\n');
  }

  /** The last event, if there is one, and the end. */
  end(event?: string): void {
    if (this.closed) return;
    this.#waiting = null;
    this.#raw.end(event);
    this.#watchBuffer();
  }

  /** The end of the connection too, for a process that leaves: its reader comes back soon, and finds another one. */
  leave(): void {
    const { socket } = this.#raw;
    if (!this.#raw.writableEnded) this.#raw.end(this.blockedAt === null ? COME_BACK : undefined);
    this.#raw.once('finish', () => socket?.destroySoon());
  }

  /** Gives up a reader. */
  cut(): void {
    this.#raw.destroy();
  }

  #write(event: string): void {
    if (!this.#raw.write(event)) this.#watchBuffer();
  }

  #watchBuffer(): void {
    const { writableLength } = this.#raw;
    if (writableLength > MOST_BUFFERED_BYTES) this.cut();
    else if (writableLength > 0 && this.blockedAt === null) {
      this.#keeper.blocked(this);
      this.#raw.once('drain', () => this.#drained());
    }
  }

  #drained(): void {
    this.#keeper.flowing(this);
    const event = this.#waiting;
    this.#waiting = null;
    if (event !== null) this.send(event);
  }

  #close(): void {
    this.#closed = true;
    this.#waiting = null;
    this.#keeper.closed(this);
    this.owner?.closed();
    this.owner = null;
  }
}

/** A reader that breaks the connection while we write is nothing unusual; `close` follows. */
const ignore = (): void => undefined;
