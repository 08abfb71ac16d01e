import { LIMITS } from '@eloquentpoll/contracts';
import type { FastifyInstance } from 'fastify';
import plugin from 'fastify-plugin';
import { answerClientError } from './client-errors.ts';

// A request must arrive completely within a time limit. Node's limit applies to the whole server and leaves time for
// uploads; all other routes have this shorter one.

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Time limit for the body to arrive, if longer than usual. */
    bodyTimeoutMs?: number;
  }
}

export const BODY_TIMEOUT_MS = 15_000;

export const UPLOAD_TOO_LONG = `An upload may take at most ${LIMITS.batch.upload_ms / 60_000} minutes: send the file in parts.`;

export const bodyTimeout = plugin(async (app: FastifyInstance, { afterMs = BODY_TIMEOUT_MS }: { afterMs?: number }) => {
  app.addHook('onRequest', ({ raw, method, routeOptions }, reply, done) => {
    done();
    if (raw.complete || method === 'GET' || method === 'HEAD') return;
    const { bodyTimeoutMs } = routeOptions.config;
    const late = setTimeout(() => {
      if (raw.complete || raw.destroyed) return;
      const tooSlow = Object.assign(new Error('the body came too slowly'), { code: 'ERR_HTTP_REQUEST_TIMEOUT' });
      if (reply.raw.headersSent) raw.destroy(tooSlow);
      else answerClientError(tooSlow, raw.socket, bodyTimeoutMs === undefined ? undefined : UPLOAD_TOO_LONG);
    }, bodyTimeoutMs ?? afterMs);
    late.unref();
    raw.once('close', () => clearTimeout(late)).once('end', () => clearTimeout(late));
  });
});
