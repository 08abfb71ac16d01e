import type { Socket } from 'node:net';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import plugin from 'fastify-plugin';
import { ApiError } from '../api-error.ts';
import { answerExpectation } from './client-errors.ts';

// Checks that HTTP requires of a request (RFC 9112, 3.2; RFC 9110, 8.4 and 10.1.1), with our error body. Node would
// answer some of them without a body, and accept the rest.

export const requestFraming = plugin(async (app: FastifyInstance) => {
  /** Connections that sent a malformed request: the bytes after it may still belong to it. */
  const distrusted = new WeakSet<Socket>();
  app.server.on('checkExpectation', answerExpectation);
  app.addHook('onRequest', (request, _reply, done) => {
    const { socket } = request.raw;
    const problem = distrusted.has(socket) ? 'The request before it was not well-formed.' : hostProblem(request);
    if (problem === null) return done();
    distrusted.add(socket);
    done(new ApiError('bad_request', { detail: problem, headers: { connection: 'close' } }));
  });
  app.addHook('preParsing', (request, _reply, _payload, done) => {
    const { 'content-encoding': coding = 'identity' } = request.headers;
    if (request.method !== 'POST' || coding.trim().toLowerCase() === 'identity') done();
    else done(encoded());
  });
});

function hostProblem({ raw: { rawHeaders, httpVersion } }: FastifyRequest): string | null {
  let hosts = 0;
  for (let i = 0; i < rawHeaders.length; i += 2) if (rawHeaders[i]!.toLowerCase() === 'host') hosts += 1;
  if (hosts > 1) return 'The request has more than one Host header.';
  return hosts === 0 && httpVersion !== '1.0' ? 'The request has no Host header.' : null;
}

const encoded = (): ApiError =>
  new ApiError('unsupported_media_type', {
    detail: 'Bodies are read as they are; send this one without Content-Encoding.',
    headers: { 'accept-encoding': 'identity' },
  });
