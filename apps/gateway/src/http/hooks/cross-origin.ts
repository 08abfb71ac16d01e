import type { FastifyInstance, FastifyReply, RouteOptions } from 'fastify';
import plugin from 'fastify-plugin';

// Browsers of any origin may call what needs no cookie, without credentials: a bearer is given by a page that has one.
// Operations that know callers by the cookie alone answer no other origin.

const EXPOSED = [
  'Deprecation',
  'ETag',
  'Idempotency-Key',
  'Idempotent-Replayed',
  'Link',
  'PAYMENT-REQUIRED',
  'PAYMENT-RESPONSE',
  'Preference-Applied',
  'RateLimit-Limit',
  'RateLimit-Policy',
  'RateLimit-Remaining',
  'RateLimit-Reset',
  'Retry-After',
  'WWW-Authenticate',
  'X-PAYMENT-RESPONSE',
  'X-Request-Id',
  'x-markdown-tokens',
].join(', ');

const ACCEPTED = [
  'A2A-Version',
  'Accept',
  'Authorization',
  'Content-Type',
  'Idempotency-Key',
  'If-None-Match',
  'Last-Event-ID',
  'MCP-Protocol-Version',
  'PAYMENT-SIGNATURE',
  'Prefer',
  'X-Machine-Client',
  'X-Payment',
  'X-Request-Id',
].join(', ');

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Worked out once per route: no other origin may read its answers. */
    cookieOnly?: boolean;
  }
}

export const crossOrigin = plugin(async (app: FastifyInstance) => {
  app.addHook('onRoute', (route) => {
    if (isCookieOnly(route)) route.config = { ...route.config, cookieOnly: true };
  });
  app.addHook('onRequest', (request, reply, done) => {
    if (request.routeOptions.config.cookieOnly !== true) {
      // Said always, so that a cached answer serves browsers too; the long list only to those who can read it.
      reply.header('access-control-allow-origin', '*');
      if (request.headers.origin !== undefined) reply.header('access-control-expose-headers', EXPOSED);
    }
    done();
  });
});

function isCookieOnly({ schema }: RouteOptions): boolean {
  const schemes = (schema?.security ?? []).flatMap((way) => Object.keys(way));
  return schemes.length > 0 && schemes.every((scheme) => scheme === 'session');
}

/** The answer to a preflight for a path that knows these methods. */
export function answerPreflight(reply: FastifyReply, methods: string): FastifyReply {
  return reply
    .code(204)
    .headers({
      allow: methods,
      'access-control-allow-methods': methods,
      'access-control-allow-headers': ACCEPTED,
      'access-control-max-age': '86400',
    })
    .send();
}
