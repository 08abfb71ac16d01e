import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify';

// Errors in the shape that OpenAI's clients expect.

export interface ErrorBody {
  error: { message: string; type: string; param: string | null; code: string | null };
}

export class ApiError extends Error {
  readonly status: number;
  readonly code: string | null;

  constructor(status: number, message: string, code: string | null = null) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

const TYPES: Record<number, string> = {
  401: 'authentication_error',
  404: 'invalid_request_error',
  429: 'rate_limit_error',
};

export function errorBody(status: number, message: string, code: string | null): ErrorBody {
  const type = TYPES[status] ?? (status >= 500 ? 'server_error' : 'invalid_request_error');
  return { error: { message, type, param: null, code } };
}

export function handleError(error: FastifyError | ApiError, _request: FastifyRequest, reply: FastifyReply) {
  if (error instanceof ApiError)
    return reply.code(error.status).send(errorBody(error.status, error.message, error.code));
  const status = error.statusCode ?? 500;
  return reply.code(status).send(errorBody(status, error.message, status === 400 ? 'invalid_request' : null));
}

export function handleUnknownPath(request: FastifyRequest, reply: FastifyReply) {
  return reply.code(404).send(errorBody(404, `Unknown request URL: ${request.method} ${request.url}`, 'unknown_url'));
}
