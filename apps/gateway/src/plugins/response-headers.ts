import type { FastifyInstance, FastifyReply } from 'fastify';
import plugin from 'fastify-plugin';
import type { Config } from '../config.ts';

// The headers of every response. Pages and cacheable documents override single ones; nothing is laxer by default.

export const responseHeaders = plugin(async (app: FastifyInstance, { config }: { config: Config }) => {
  const setBaseHeaders = baseHeaders(config);
  app.decorateReply('setBaseHeaders', setBaseHeaders);
  app.addHook('onRequest', async (_request, reply) => {
    setBaseHeaders.call(reply);
  });
});

declare module 'fastify' {
  interface FastifyReply {
    /** For the few answers that are given before any hook runs. */
    setBaseHeaders(): void;
  }
}

function baseHeaders(config: Config): (this: FastifyReply) => void {
  const always = {
    'x-content-type-options': 'nosniff',
    'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
    'referrer-policy': 'no-referrer',
    'cache-control': 'no-store',
    ...(config.baseUrl.startsWith('https:') && { 'strict-transport-security': 'max-age=31536000; includeSubDomains' }),
  };
  return function setBaseHeaders(this: FastifyReply) {
    this.headers(always).header('x-request-id', this.request.id);
  };
}
