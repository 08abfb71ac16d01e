import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import plugin from 'fastify-plugin';

// One line per answered request: the route's pattern, never the path or the query, which may hold an id or a code.
// Sessions are asked after all day long, so what went well there is for debugging: writing it down costs more than
// answering it.

export const accessLog = plugin(async (app: FastifyInstance) => {
  app.addHook('onResponse', (request, reply, done) => {
    logRequest(request, reply);
    done();
  });
});

export function logRequest(request: FastifyRequest, reply: FastifyReply): void {
  const { url = 'none', config } = request.routeOptions;
  const routine = config.operation === 'session' && reply.statusCode < 400;
  request.log[routine ? 'debug' : 'info'](
    { method: request.method, route: url, status: reply.statusCode, ms: Math.round(reply.elapsedTime) },
    'request',
  );
}
