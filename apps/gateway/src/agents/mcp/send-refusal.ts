import { ERRORS } from '@eloquentpoll/contracts';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Config } from '../../config/config.ts';
import { beginErrorAnswer, sendError } from '../../http/hooks/errors.ts';
import { toApiError } from '../../http/hooks/to-api-error.ts';
import { rpcCodeOf, rpcErrorData, rpcIdOf } from '../json-rpc.ts';

/** What HTTP itself says, and what OAuth clients read: their bodies are those of REST. */
const OF_HTTP: ReadonlySet<number> = new Set([401, 403, 404, 405, 406, 415]);

/**
 * Error handler of the MCP endpoint. What is refused before the library has the message is a JSON-RPC error, too, with
 * the status, headers, code and recovery of REST errors: a client would take another body for that of an older server,
 * or drop it, and with it when to try again.
 */
export const sendRefusal = (config: Config) => (error: unknown, request: FastifyRequest, reply: FastifyReply) => {
  const { code: cause } = toApiError(error);
  if (OF_HTTP.has(ERRORS[cause].status)) return sendError(config, error, request, reply);
  const { occurrence } = beginErrorAnswer(config, error, request, reply);
  const data = rpcErrorData(occurrence, config.baseUrl);
  const code = Array.isArray(request.body) ? INVALID_REQUEST : rpcCodeOf(cause, reply.statusCode);
  const id = rpcIdOf(request.body) ?? null;
  return reply
    .header('content-type', 'application/json; charset=utf-8')
    .send(JSON.stringify({ jsonrpc: '2.0', id, error: { code, message: data.error, data } }));
};

const INVALID_REQUEST = -32_600;
