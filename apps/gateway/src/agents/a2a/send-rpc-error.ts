import { isJsonObject } from '@eloquentpoll/contracts';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Config } from '../../config/config.ts';
import type { ApiError } from '../../http/api-error.ts';
import { beginErrorAnswer, sendError } from '../../http/hooks/errors.ts';
import { toApiError } from '../../http/hooks/to-api-error.ts';
import { rpcCodeOf, rpcErrorData, rpcIdOf } from '../json-rpc.ts';
import { A2A_ERRORS, offeredMethod } from './methods.ts';
import { RpcProtocolError, versionOf } from './read-call.ts';

/**
 * Error handler of the task endpoint: JSON-RPC errors have the headers, code and recovery of REST errors, and their
 * status, unless the error is one of the protocol.
 */
export const sendRpcError = (config: Config) => (error: unknown, request: FastifyRequest, reply: FastifyReply) => {
  const { code: cause } = toApiError(error);
  const id = cause === 'malformed_json' && namesProtocol(request) ? null : rpcIdOf(request.body);
  if (id === undefined) return sendError(config, error, request, reply);

  const { known, occurrence } = beginErrorAnswer(config, error, request, reply);
  const code = codeOf(known, reply.statusCode);
  const data = rpcErrorData(occurrence, config.baseUrl);
  const isTyped = versionOf(request.body) === '1.0';
  if (PROTOCOL_CODES.has(code) && !asksForStream(request.body)) reply.code(200);
  const rpcError = { code, message: data.error, data: isTyped ? typed(config, code, data) : data };
  return reply
    .header('content-type', 'application/json; charset=utf-8')
    .send(JSON.stringify({ jsonrpc: '2.0', id, error: rpcError }));
};

/**
 * Codes by which a client decides what to do next. With another status than 200, the official clients in Python and
 * Java would drop the body and with it the code.
 */
const PROTOCOL_CODES: ReadonlySet<number> = new Set([-32_601, ...Object.values(A2A_ERRORS)]);

/** Some clients that asked for a stream read no JSON with status 200. */
function asksForStream(body: unknown): boolean {
  const action = offeredMethod(isJsonObject(body) ? body.method : undefined)?.action;
  return action === 'stream' || action === 'subscribe';
}

/** For an unreadable body, which may have been of either form: only clients of the protocol send these headers. */
const namesProtocol = ({ headers }: FastifyRequest): boolean =>
  headers['a2a-version'] !== undefined || /^application\/a2a\+json\b/.test(headers['content-type'] ?? '');

/** Version 1.0 has a list of objects with type names; the protocol's own object comes first. */
function typed({ baseUrl }: Config, code: number, data: { code: string }): object[] {
  const protocolReason = REASONS[code];
  const info = {
    '@type': 'type.googleapis.com/google.rpc.ErrorInfo',
    reason: protocolReason ?? data.code.toUpperCase(),
    domain: protocolReason ? 'a2a-protocol.org' : new URL(baseUrl).hostname,
  };
  return [info, { '@type': `${baseUrl}/errors/${data.code}`, ...data }];
}

const REASONS: Readonly<Record<number, string>> = {
  [A2A_ERRORS.taskNotFound]: 'TASK_NOT_FOUND',
  [A2A_ERRORS.taskNotCancelable]: 'TASK_NOT_CANCELABLE',
  [A2A_ERRORS.pushNotSupported]: 'PUSH_NOTIFICATION_NOT_SUPPORTED',
  [A2A_ERRORS.unsupportedOperation]: 'UNSUPPORTED_OPERATION',
  [A2A_ERRORS.contentTypeNotSupported]: 'CONTENT_TYPE_NOT_SUPPORTED',
  [A2A_ERRORS.versionNotSupported]: 'VERSION_NOT_SUPPORTED',
};

function codeOf(known: ApiError, status: number): number {
  if (known instanceof RpcProtocolError) return known.rpcCode;
  return known.code === 'session_not_found' ? A2A_ERRORS.taskNotFound : rpcCodeOf(known.code, status);
}
