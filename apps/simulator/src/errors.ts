import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify';

// Errors in the shape that OpenAI's clients expect.

export interface ProviderErrorBody {
  error: { message: string; type: string; param: string | null; code: string | null };
}

export class ProviderApiError extends Error {
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

export function providerErrorBody(status: number, message: string, code: string | null): ProviderErrorBody {
  const type = TYPES[status] ?? (status >= 500 ? 'server_error' : 'invalid_request_error');
  return { error: { message, type, param: null, code } };
}

export function handleError(error: FastifyError | ProviderApiError, _request: FastifyRequest, reply: FastifyReply) {
  if (error instanceof ProviderApiError)
    return reply.code(error.status).send(providerErrorBody(error.status, error.message, error.code));
  const status = error.statusCode ?? 500;
  return reply.code(status).send(providerErrorBody(status, error.message, status === 400 ? 'invalid_request' : null));
}

export function handleUnknownPath(request: FastifyRequest, reply: FastifyReply) {
  return reply
    .code(404)
    .send(providerErrorBody(404, `Unknown request URL: ${request.method} ${request.url}`, 'unknown_url'));
}
