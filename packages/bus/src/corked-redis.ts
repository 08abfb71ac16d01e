import { type Command, Redis } from 'ioredis';

/**
 * A client that writes once per turn of the event loop, however many commands were sent in it. To a Redis that has gone
 * to sleep each write is a wake-up, which costs more than the command itself; a busy process sends a dozen commands a
 * turn. Nothing waits: the turn's end comes before the process looks for anything new.
 */
export class CorkedRedis extends Redis {
  #corked = false;

  override sendCommand(...[command, into]: Parameters<Redis['sendCommand']>): ReturnType<Redis['sendCommand']> {
    if (!this.#corked && this.stream?.writable) this.#cork();
    return super.sendCommand(command as Command, into);
  }

  #cork(): void {
    const { stream } = this;
    this.#corked = true;
    stream.cork();
    setImmediate(() => {
      this.#corked = false;
      stream.uncork();
    });
  }
}
