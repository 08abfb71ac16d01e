import type { FastifyInstance, FastifyReply } from 'fastify';
import plugin from 'fastify-plugin';
import type { Config } from '../../config/config.ts';
import type { HttpContext } from '../context.ts';

// The headers of every response, by default the strictest. Pages and cacheable documents override some of them.

export const responseHeaders = plugin(async (app: FastifyInstance, { context }: { context: HttpContext }) => {
  const headers = baseHeaders(context.config);
  app.addHook('onRequest', (_request, reply, done) => {
    setBaseHeaders(reply, headers);
    done();
  });
  // Connections that close during the drain do not have to be cut at its end.
  const { draining } = context.shutdown;
  app.addHook('onSend', (_request, reply, _payload, done) => {
    if (draining.aborted) reply.header('connection', 'close');
    done();
  });
});

export function setBaseHeaders(reply: FastifyReply, headers: Record<string, string>): void {
  reply.headers(headers).header('x-request-id', reply.request.id);
}

export const baseHeaders = (config: Config): Record<string, string> => ({
  'x-content-type-options': 'nosniff',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'referrer-policy': 'no-referrer',
  'cache-control': 'no-store',
  'content-signal': config.contentSignal,
  ...(config.baseUrl.startsWith('https:') && { 'strict-transport-security': 'max-age=31536000; includeSubDomains' }),
});
