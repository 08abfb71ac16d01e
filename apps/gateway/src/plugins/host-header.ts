import type { FastifyInstance } from 'fastify';
import plugin from 'fastify-plugin';
import { ApiError } from '../api-error.ts';

// HTTP/1.1 asks for a Host header. Node would refuse a request without one by itself, but with nothing in the answer;
// nothing else here reads the header: addresses that we tell are made from the settings.

export const hostHeader = plugin(async (app: FastifyInstance) => {
  app.addHook('onRequest', ({ raw }, _reply, done) => {
    if (raw.headers.host !== undefined || raw.httpVersion !== '1.1') done();
    else done(new ApiError('bad_request', { detail: 'An HTTP/1.1 request names its Host.' }));
  });
});
