import type { Redis } from 'ioredis';

/**
 * Makes a client write once per turn of the event loop, however many commands were sent in it. Each write wakes an idle
 * Redis, which costs more than the command, and a busy process sends a dozen commands per turn. Nothing is delayed: the
 * turn ends before the process polls for new events.
 */
export function cork<T extends Redis>(redis: T): T {
  const send = redis.sendCommand.bind(redis);
  let isCorked = false;

  function corked(): void {
    const { stream } = redis;
    isCorked = true;
    stream.cork();
    setImmediate(() => {
      isCorked = false;
      stream.uncork();
    });
  }

  redis.sendCommand = (...args) => {
    if (!isCorked && redis.stream?.writable) corked();
    return send(...args);
  };
  return redis;
}
