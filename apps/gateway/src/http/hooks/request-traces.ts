import type { Span, Tracer } from '@eloquentpoll/ops';
import type { FastifyInstance } from 'fastify';
import plugin from 'fastify-plugin';
import { traceparentOf } from './request-ids.ts';

// One span per request, named after its operation. Status requests get none, because their number would hide the
// others.

declare module 'fastify' {
  interface FastifyRequest {
    span?: Span | null;
  }
}

export const requestTraces = plugin(async (app: FastifyInstance, { tracer }: { tracer: Tracer }) => {
  app.decorateRequest('span', null);
  app.addHook('onRequest', (request, _reply, done) => {
    const { config, schema, url = 'none' } = request.routeOptions;
    if (config.operation !== 'session') {
      const attributes = { 'http.request.method': request.method, 'http.route': url, request_id: request.id };
      const parent = traceparentOf(request.headers.traceparent);
      request.span = tracer.start(schema?.operationId ?? 'request', 'server', parent, attributes);
    }
    done();
  });
  app.addHook('onResponse', (request, reply, done) => {
    const { statusCode, errorCode } = reply;
    request.span?.end({ 'http.response.status_code': statusCode }, statusCode >= 500 ? (errorCode ?? 'error') : null);
    done();
  });
});
