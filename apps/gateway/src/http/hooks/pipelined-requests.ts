import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';
import plugin from 'fastify-plugin';
import { ApiError } from '../api-error.ts';

// Bounds how many requests of one connection are unanswered at a time. Node takes all requests that arrive in one read,
// more than a thousand, and keeps each of them and its answer until the answers before it were read: a hundred such
// connections would take more memory than a gateway has (0067). Proxies and most clients send one request at a time.

export const MAX_UNANSWERED = 16;

export const pipelinedRequests = plugin(async (app: FastifyInstance) => {
  const unanswered = new WeakMap<Socket, number>();
  const isTooMany = (socket: Socket): boolean => (unanswered.get(socket) ?? 0) > MAX_UNANSWERED;
  function count({ socket }: IncomingMessage, response: ServerResponse): void {
    unanswered.set(socket, (unanswered.get(socket) ?? 0) + 1);
    response.once('close', () => unanswered.set(socket, (unanswered.get(socket) ?? 1) - 1));
    // Whatever answers it, and after all answers before it.
    if (isTooMany(socket)) response.setHeader('connection', 'close');
  }
  // Before the framework, which runs no hook for a path that it cannot decode.
  app.server.prependListener('request', count).prependListener('checkExpectation', count);
  app.server.on('connection', (socket) => dropAbove(socket, () => isTooMany(socket)));
  app.addHook('onRequest', ({ raw: { socket } }, _reply, done) => done(isTooMany(socket) ? tooMany() : undefined));
});

interface Parser {
  onIncoming(request: unknown, keepsAlive: boolean): number;
}

/**
 * Drops what was read with the refused request, before anything is kept of it. Node documents no way to do so: its parser
 * goes on to the end of the read even if the connection was destroyed.
 */
function dropAbove({ parser }: Socket & { parser?: Parser }, isTooMany: () => boolean): void {
  if (parser === undefined) return;
  const take = parser.onIncoming;
  parser.onIncoming = (request, keepsAlive) => (isTooMany() ? 0 : take(request, keepsAlive));
}

const tooMany = (): ApiError =>
  new ApiError('bad_request', {
    detail: `At most ${MAX_UNANSWERED} requests of one connection may be unanswered at a time.`,
  });
