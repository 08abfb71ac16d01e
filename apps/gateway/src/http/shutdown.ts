/** How far the end of this process has come: three signals, each of which implies the ones before it. */
export class Shutdown {
  readonly #draining = new AbortController();
  readonly #closing = new AbortController();
  readonly #ending = new AbortController();

  /** The process serves on, and asks connections to close. */
  readonly draining = this.#draining.signal;
  /** No connections are accepted: long polls answer, event streams end and no new one begins. */
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
