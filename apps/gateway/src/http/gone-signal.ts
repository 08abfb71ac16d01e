import type { FastifyReply } from 'fastify';

/** Aborts when the caller disconnects before the whole answer was handed to the connection. */
export function goneSignal(reply: FastifyReply): AbortSignal {
  const gone = new AbortController();
  reply.raw.once('close', () => {
    if (!reply.raw.writableEnded) gone.abort();
  });
  return gone.signal;
}
