/** The stages of shutting this process down: three signals, each of which implies those before it. */
export class Shutdown {
  readonly #draining = new AbortController();
  readonly #closing = new AbortController();
  readonly #ending = new AbortController();

  /** The process still serves requests, and asks connections to close. */
  readonly draining = this.#draining.signal;
  /** No new connections: long polls answer, event streams end, and no new streams start. */
  readonly closing = this.#closing.signal;
  /** Time is up: requests that still wait are answered with an error. */
  readonly ending = this.#ending.signal;

  drain(): void {
    this.#draining.abort();
  }

  close(): void {
    this.drain();
    this.#closing.abort();
  }

  end(): void {
    this.close();
    this.#ending.abort();
  }
}
