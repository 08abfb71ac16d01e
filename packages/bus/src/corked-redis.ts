import { type Command, Redis } from 'ioredis';

/**
 * A client that writes once per turn of the event loop, however many commands were sent in it. Each
 * write wakes an idle Redis, which costs more than the command itself; a busy process sends a dozen commands a turn.
 * Nothing is delayed: the turn ends before the process polls for new events.
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
