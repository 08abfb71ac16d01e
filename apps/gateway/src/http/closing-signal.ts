import type { FastifyInstance } from 'fastify';

/** Aborts when the service begins to close: whoever waits is answered, so that nobody holds it up. */
export function closingSignal(app: FastifyInstance): AbortSignal {
  const closing = new AbortController();
  app.addHook('preClose', async () => closing.abort());
  return closing.signal;
}
