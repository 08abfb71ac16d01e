import { ERRORS, errorBody, recoveryOf } from '@eloquentpoll/contracts';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Config } from '../../config/config.ts';
import type { ApiError } from '../../http/api-error.ts';
import { sendError } from '../../http/hooks/errors.ts';
import { toApiError } from '../../http/hooks/to-api-error.ts';
import { RpcProtocolError, rpcIdOf } from './read-call.ts';

/** The error handler of the task endpoint: JSON-RPC errors carry the same status, code and recovery as REST errors. */
export const sendRpcError = (config: Config) => (error: unknown, request: FastifyRequest, reply: FastifyReply) => {
  const id = rpcIdOf(request.body);
  if (id === undefined) return sendError(config, error, request, reply);

  const known = toApiError(error);
  const { status } = ERRORS[known.code];
  const { detail, issues, retryAfterSeconds } = known.circumstances;
  if (status >= 500) request.log.error({ err: error, code: known.code }, 'request.failed');
  if (retryAfterSeconds !== undefined) reply.header('retry-after', String(retryAfterSeconds));
  const body = errorBody({ code: known.code, requestId: request.id, detail });
  return reply.code(status).send({
    jsonrpc: '2.0',
    id,
    error: {
      code: rpcCodeOf(known, status),
      message: body.error,
      data: {
        ...body,
        recovery: recoveryOf(known.code, config.baseUrl, retryAfterSeconds),
        ...(issues?.length && { errors: issues }),
      },
    },
  });
};

function rpcCodeOf(known: ApiError, status: number): number {
  if (known instanceof RpcProtocolError) return known.rpcCode;
  if (known.code === 'session_not_found') return -32_001;
  if (status === 400 || status === 422) return -32_602;
  return status >= 500 ? -32_603 : -32_000;
}
