import type { FastifyInstance, FastifyReply, FastifyRequest, RouteOptions } from 'fastify';
import plugin from 'fastify-plugin';

// CORS: any origin may call an operation that takes a bearer or no credentials. Operations that accept only the login
// cookie can be read by no other origin.

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
  'Replica-Lag',
  'Retry-After',
  'WWW-Authenticate',
  'X-PAYMENT-RESPONSE',
  'X-Request-Id',
  'X-Total-Count',
  'x-markdown-tokens',
  'x-should-retry',
].join(', ');

const ACCEPTED = [
  'A2A-Extensions',
  'A2A-Version',
  'Accept',
  // An answer header by definition, but the x402 client sends it along with its payment.
  'Access-Control-Expose-Headers',
  'Authorization',
  'Content-Type',
  'Deposit-Secret',
  'Idempotency-Key',
  'If-None-Match',
  'Last-Event-ID',
  'MCP-Protocol-Version',
  'Mcp-Method',
  'Mcp-Name',
  'Mcp-Session-Id',
  'PAYMENT-SIGNATURE',
  'Prefer',
  // Libraries set it in browsers too. Chrome leaves it out of preflights, Safari and Firefox do not.
  'User-Agent',
  'X-Machine-Client',
  'X-Payment',
  'X-Request-Id',
  // Headers that clients of the OpenAI API send from browsers.
  'OpenAI-Organization',
  'OpenAI-Project',
  'X-Stainless-Arch',
  'X-Stainless-Helper-Method',
  'X-Stainless-Lang',
  'X-Stainless-OS',
  'X-Stainless-Package-Version',
  'X-Stainless-Retry-Count',
  'X-Stainless-Runtime',
  'X-Stainless-Runtime-Version',
  'X-Stainless-Timeout',
].join(', ');

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Derived once per route: other origins may not read its answers. */
    cookieOnly?: boolean;
    /** For operations that only pages of certain origins may call; preflights follow it too. */
    allowsOrigin?: (origin: string) => boolean;
  }
}

export const crossOrigin = plugin(async (app: FastifyInstance) => {
  app.addHook('onRoute', (route) => {
    if (isCookieOnly(route)) route.config = { ...route.config, cookieOnly: true };
  });
  app.addHook('onRequest', (request, reply, done) => {
    const { cookieOnly, allowsOrigin } = request.routeOptions.config;
    if (allowsOrigin) {
      allowNamed(request, reply, allowsOrigin);
    } else if (cookieOnly !== true) {
      // Sent always, so that a cached answer works for browsers too; the long list is sent only to browsers.
      reply.header('access-control-allow-origin', '*');
      if (request.headers.origin !== undefined) reply.header('access-control-expose-headers', EXPOSED);
    }
    done();
  });
});

/** Allows only the origins that `allows` accepts, in preflights and in answers. */
export function allowNamed(
  { headers: { origin } }: FastifyRequest,
  reply: FastifyReply,
  allows: (origin: string) => boolean,
): void {
  reply.removeHeader('access-control-allow-origin').header('vary', 'Origin');
  if (origin === undefined || !allows(origin)) return;
  reply.headers({ 'access-control-allow-origin': origin, 'access-control-expose-headers': EXPOSED });
}

function isCookieOnly({ schema }: RouteOptions): boolean {
  const schemes = (schema?.security ?? []).flatMap((way) => Object.keys(way));
  return schemes.length > 0 && schemes.every((scheme) => scheme === 'session');
}

/** Answers a preflight for a path with these methods. */
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
