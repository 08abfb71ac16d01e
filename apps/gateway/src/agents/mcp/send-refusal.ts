import { ERRORS, type Occurrence } from '@eloquentpoll/contracts';
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
  return reply
    .header('content-type', 'application/json; charset=utf-8')
    .send(JSON.stringify(rpcRefusal(config, occurrence, request.body)));
};

/** The error as the answer to a message, or to a batch as a whole. */
export function rpcRefusal({ baseUrl }: Config, occurrence: Occurrence, message: unknown): object {
  const data = rpcErrorData(occurrence, baseUrl);
  const code = Array.isArray(message) ? INVALID_REQUEST : rpcCodeOf(occurrence.code, ERRORS[occurrence.code].status);
  return { jsonrpc: '2.0', id: rpcIdOf(message) ?? null, error: { code, message: data.error, data } };
}

const INVALID_REQUEST = -32_600;
