import type { FastifyInstance } from 'fastify';
import plugin from 'fastify-plugin';

// An answer that its caller does not read stays in our memory, and Node waits for such a caller for ever. What the
// kernel does not take at once is given up when not a byte of it has moved for a while; a slow reader is no such caller.
// Small answers cost nothing here: whoever leaves those unread is let go with the connection's own time limit.

/** About what the kernel keeps for a connection. */
const TAKEN_AT_ONCE_BYTES = 64 * 1_024;
const GIVEN_UP_MS = 30_000;

/** For the connection as a whole: longer than any answer waits for its poll. */
export const STANDSTILL_MS = 150_000;

export const unreadAnswers = plugin(async (app: FastifyInstance, { afterMs = GIVEN_UP_MS }: { afterMs?: number }) => {
  app.addHook('onSend', ({ method }, { raw }, payload, done) => {
    // The answer to a HEAD has the size of a GET's and none of its bytes.
    if (method !== 'HEAD' && sizeOf(payload) > TAKEN_AT_ONCE_BYTES) raw.setTimeout(afterMs, () => raw.destroy());
    done();
  });
});

const sizeOf = (payload: unknown): number =>
  typeof payload === 'string' || Buffer.isBuffer(payload) ? payload.length : 0;
