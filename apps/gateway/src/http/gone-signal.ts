import type { FastifyReply } from 'fastify';

/** Aborts when the caller disconnects before all of the answer was given to the connection. */
export function goneSignal(reply: FastifyReply): AbortSignal {
  const gone = new AbortController();
  reply.raw.once('close', () => {
    if (!reply.raw.writableEnded) gone.abort();
  });
  return gone.signal;
}
