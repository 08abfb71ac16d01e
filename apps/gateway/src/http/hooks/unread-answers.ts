import { Readable } from 'node:stream';
import type { FastifyInstance } from 'fastify';
import plugin from 'fastify-plugin';

// An answer that is not read stays in memory, and Node waits for ever. A large one is dropped when no byte of it has moved
// for a while; a slow reader stays. Small answers end with the connection's own time limit. A stream that answers a HEAD ends before
// it is read: Fastify would read it to its end and drop it, after the answer.

/** About what the kernel buffers for a connection. */
const SOCKET_BUFFER_BYTES = 64 * 1_024;
const STALLED_MS = 30_000;

/** For the whole connection: longer than any answer waits for its poll. */
export const STANDSTILL_MS = 150_000;

export const unreadAnswers = plugin(async (app: FastifyInstance, { afterMs = STALLED_MS }: { afterMs?: number }) => {
  app.addHook('onSend', ({ method }, { raw }, payload, done) => {
    // The answer to a HEAD has the size of a GET's and none of its bytes.
    if (method !== 'HEAD') {
      if (sizeOf(payload) > SOCKET_BUFFER_BYTES) raw.setTimeout(afterMs, () => raw.destroy());
    } else if (payload instanceof Readable) payload.destroy();
    done();
  });
});

const sizeOf = (payload: unknown): number =>
  typeof payload === 'string' || Buffer.isBuffer(payload) ? payload.length : 0;
