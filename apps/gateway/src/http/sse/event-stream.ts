import type { ServerResponse } from 'node:http';

// A response that carries events. While its socket is full only the newest event waits: each is a complete snapshot and
// replaces the one before. @fastify/sse is not used: an idle stream takes a third more memory there.

/** More than the last event of the largest poll: a reader with this much unread data has stopped reading. */
const MAX_BUFFERED_BYTES = 256 * 1024;

/** For a planned end; shorter than the delay after a broken connection. */
const RECONNECT_SOON = 'retry: 500\n\n';

/** Is notified when a stream's socket is full, has drained, or is closed. */
export interface StreamObserver {
  blocked(stream: EventStream): void;
  flowing(stream: EventStream): void;
  closed(stream: EventStream): void;
}

/** The source of a stream's events. */
export interface StreamSource {
  /** No further event can be sent. */
  onClose(): void;
  /** The stream is open for longer than its source can last. */
  onOverdue(): void;
}

export class EventStream {
  /** Its slot on the timer wheel. */
  readonly slot: number;
  /** When the reader stopped reading, by the wheel's clock; null while it reads. */
  blockedAt: number | null = null;
  source: StreamSource | null = null;
  /** By the wheel's clock. */
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

  /** No further event can be sent: the reader has left, or the last event was sent. */
  get closed(): boolean {
    return this.#closed || this.#raw.writableEnded;
  }

  /** Sends an event, which a later one may replace before it is written. */
  send(event: string): void {
    if (this.closed) return;
    if (this.blockedAt !== null) this.#waiting = event;
    else this.#write(event);
  }

  /** Sends an SSE comment as keep-alive. */
  keepAlive(): void {
    if (!this.closed && this.blockedAt === null) this.#write(': alive\n\n');
  }

  /** Sends the last event, if there is one, and ends the stream. */
  end(event?: string): void {
    if (this.closed) return;
    // Node loses the last chunk if the head is still corked when the response ends.
    if (this.#raw.writableCorked > 0) {
      process.nextTick(() => this.end(event));
      return;
    }
    this.#waiting = null;
    this.#raw.end(event);
    this.#watchBuffer();
  }

  /** Also ends the connection, for a process that closes: the reader soon reconnects to another one. */
  endConnection(): void {
    const { socket } = this.#raw;
    if (!this.#raw.writableEnded) this.#raw.end(this.blockedAt === null ? RECONNECT_SOON : undefined);
    this.#raw.once('finish', () => socket?.destroySoon());
  }

  /** Disconnects a reader that does not read. */
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

/** Connections often break during a write; `close` follows. */
const ignore = (): void => undefined;
