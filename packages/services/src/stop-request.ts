// A request to end: Ctrl-C, a signal, or the launcher has ended. One Ctrl-C arrives several times (from the terminal,
// npm and the launcher), so requests within a moment count as one.

const SAME_MS = 700;

export interface StopRequest {
  requested: Promise<'stop'>;
  /** Called on a second request. */
  onAgain(hurry: () => void): void;
}

export function stopRequest(): StopRequest {
  const { promise, resolve } = Promise.withResolvers<'stop'>();
  let firstAt = 0;
  let hurry = () => {};
  const ask = () => {
    const now = performance.now();
    if (firstAt === 0) firstAt = now;
    else if (now - firstAt > SAME_MS) hurry();
    resolve('stop');
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, ask);
  // A closed terminal must not end us while we clean up.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {});
  if (process.channel) {
    process.on('disconnect', ask);
    process.channel.unref();
  }
  return {
    requested: promise,
    onAgain: (call) => {
      hurry = call;
    },
  };
}
