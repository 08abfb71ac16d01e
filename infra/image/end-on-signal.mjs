import { constants } from 'node:os';

// Loaded before a process of ours, which is the first one of its container. The kernel drops a signal that such a process
// does not listen for, so Ctrl-C and `docker stop` would not end a one-shot, or a process that is still starting.

for (const signal of ['SIGINT', 'SIGTERM'])
  process.on(signal, () => {
    // A program that listens itself ends in its own order.
    if (process.listenerCount(signal) === 1) process.exit(128 + constants.signals[signal]);
  });
