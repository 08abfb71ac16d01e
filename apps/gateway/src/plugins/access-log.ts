import type { FastifyInstance } from 'fastify';
import plugin from 'fastify-plugin';

/** One line per answered request: the route's pattern, never the path or the query, which may hold an id or a code. */
export const accessLog = plugin(async (app: FastifyInstance) => {
  app.addHook('onResponse', async (request, reply) => {
    request.log.info(
      {
        method: request.method,
        route: request.routeOptions.url ?? 'none',
        status: reply.statusCode,
        ms: Math.round(reply.elapsedTime),
      },
      'request',
    );
  });
});
