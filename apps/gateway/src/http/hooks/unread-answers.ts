import { Readable } from 'node:stream';
import type { FastifyInstance } from 'fastify';
import plugin from 'fastify-plugin';
import { LARGE_BYTES } from '../large-texts.ts';

// An unread answer stays in memory, and Node would wait forever. A large one is dropped when none of its bytes moved
// for a while; slow readers keep theirs. Small answers end with the connection's own time limit. A stream that answers
// a HEAD is ended before it is read: Fastify would read all of it and discard it after the answer.

const STALLED_MS = 30_000;

/** Limit for the whole connection: longer than any answer waits for its poll. */
export const STANDSTILL_MS = 150_000;

export const unreadAnswers = plugin(async (app: FastifyInstance, { afterMs = STALLED_MS }: { afterMs?: number }) => {
  app.addHook('onSend', ({ method }, { raw }, payload, done) => {
    // The answer to a HEAD has the size of a GET's answer but sends none of its bytes.
    if (method !== 'HEAD') {
      if (sizeOf(payload) > LARGE_BYTES) raw.setTimeout(afterMs, () => raw.destroy());
    } else if (payload instanceof Readable) payload.destroy();
    done();
  });
});

const sizeOf = (payload: unknown): number =>
  typeof payload === 'string' || Buffer.isBuffer(payload) ? payload.length : 0;
