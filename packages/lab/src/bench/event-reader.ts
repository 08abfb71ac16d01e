import type { Socket } from 'node:net';
import { connectTo } from './http-bytes.ts';

// A reader of one event stream, as cheap as it can be: it counts events and times them.

export interface EventReader {
  readonly events: number;
  /** Resolves with the time at which so many events had come. */
  reached(events: number): Promise<number>;
  close(): void;
}

const EVENT = Buffer.from('\nevent: ');

export async function openEventReader(port: number, request: Buffer): Promise<EventReader> {
  const socket = await connectTo(port);
  socket.write(request);
  return reader(socket);
}

function reader(socket: Socket): EventReader {
  let events = 0;
  let wanted = Number.POSITIVE_INFINITY;
  let onReached: (at: number) => void = () => {};
  let failed: Error | null = null;
  let fail: (error: Error) => void = (error) => {
    failed = error;
  };
  const closed = () => fail(new Error('a stream was closed'));
  socket.on('close', closed).on('error', closed);
  socket.on('data', (chunk) => {
    for (let at = chunk.indexOf(EVENT); at >= 0; at = chunk.indexOf(EVENT, at + 1)) events += 1;
    if (events >= wanted) onReached(performance.now());
  });
  return {
    get events() {
      return events;
    },
    reached(count) {
      if (failed) return Promise.reject(failed);
      if (events >= count) return Promise.resolve(performance.now());
      return new Promise((resolve, reject) => {
        wanted = count;
        onReached = resolve;
        fail = reject;
      });
    },
    close() {
      socket.removeAllListeners('close');
      socket.destroy();
    },
  };
}
