import type { ServerResponse } from 'node:http';

// A response that carries events. While its socket is full only the newest event waits: each is a whole snapshot, so it
// replaces the one before. Not @fastify/sse, which holds 23-28 kB for an idle stream where this holds 17-19 kB.

/** More than the last event of the largest poll: a reader with this much unread is not reading. */
const MAX_BUFFERED_BYTES = 256 * 1024;

/** For a planned end: sooner than after a connection that broke. */
const RECONNECT_SOON = 'retry: 500\n\n';

/** Hears of a stream whose socket is full, or drained again, or closed. */
export interface StreamObserver {
  blocked(stream: EventStream): void;
  flowing(stream: EventStream): void;
  closed(stream: EventStream): void;
}

/** The source of a stream's events. */
export interface StreamSource {
  /** No event can be sent any more. */
  onClose(): void;
  /** The stream is open for longer than its source can take. */
  onOverdue(): void;
}

export class EventStream {
  /** Its place on the wheel. */
  readonly slot: number;
  /** Since when the reader does not read, by the clock of the wheel; null while it reads. */
  blockedAt: number | null = null;
  source: StreamSource | null = null;
  /** By the clock of the wheel. */
  readonly overdueAt: number;
  #closed = false;
  #waiting: string | null = null;
  readonly #raw: ServerResponse;
  readonly #observer: StreamObserver;

  constructor(raw: ServerResponse, observer: StreamObserver, slot: number, overdueAt: number) {
    this.overdueAt = overdueAt;
    this.slot = slot;
    this.#raw = raw;
    this.#observer = observer;
    raw.on('close', () => this.#close());
    raw.on('error', ignore);
  }

  /** No event can be sent any more: the reader left, or was sent the last one. */
  get closed(): boolean {
    return this.#closed || this.#raw.writableEnded;
  }

  /** An event that a later one may replace before it is sent. */
  send(event: string): void {
    if (this.closed) return;
    if (this.blockedAt !== null) this.#waiting = event;
    else this.#write(event);
  }

  /** An SSE comment as keep-alive. */
  keepAlive(): void {
    if (!this.closed && this.blockedAt === null) this.#write(': alive\n\n');
  }

  /** Sends the last event, if there is one, and ends the stream. */
  end(event?: string): void {
    if (this.closed) return;
    // Node loses the chunk that ends a response whose head is still corked.
    if (this.#raw.writableCorked > 0) {
      process.nextTick(() => this.end(event));
      return;
    }
    this.#waiting = null;
    this.#raw.end(event);
    this.#watchBuffer();
  }

  /** Ends the connection too, for a process that closes: the reader reconnects to another one soon. */
  endConnection(): void {
    const { socket } = this.#raw;
    if (!this.#raw.writableEnded) this.#raw.end(this.blockedAt === null ? RECONNECT_SOON : undefined);
    this.#raw.once('finish', () => socket?.destroySoon());
  }

  /** Drops a reader that does not read. */
  cut(): void {
    this.#raw.destroy();
  }

  #write(event: string): void {
    if (!this.#raw.write(event)) this.#watchBuffer();
  }

  #watchBuffer(): void {
    const { writableLength } = this.#raw;
    if (writableLength > MAX_BUFFERED_BYTES) this.cut();
    else if (writableLength > 0 && this.blockedAt === null) {
      this.#observer.blocked(this);
      this.#raw.once('drain', () => this.#drained());
    }
  }

  #drained(): void {
    this.#observer.flowing(this);
    const event = this.#waiting;
    this.#waiting = null;
    if (event !== null) this.send(event);
  }

  #close(): void {
    this.#closed = true;
    this.#waiting = null;
    this.#observer.closed(this);
    this.source?.onClose();
    this.source = null;
  }
}

/** A connection that breaks during a write is usual; `close` follows. */
const ignore = (): void => undefined;
