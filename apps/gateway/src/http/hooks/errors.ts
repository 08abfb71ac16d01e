import {
  chatErrorBody,
  ERRORS,
  type ErrorCode,
  errorBody,
  type Occurrence,
  problemBody,
} from '@eloquentpoll/contracts';
import type { FastifyContextConfig, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import plugin from 'fastify-plugin';
import type { Config } from '../../config/config.ts';
import type { Scope } from '../access.ts';
import type { ApiError } from '../api-error.ts';
import { isChatPath, isRetriedAtACost } from '../chat-errors.ts';
import { toApiError } from './to-api-error.ts';

// Builds every error answer: a code of the closed catalogue as a plain body, as Problem Details or in the format of the
// OpenAI API, without internals.

declare module 'fastify' {
  interface FastifyReply {
    /** The catalogue code, if the answer is an error. */
    errorCode: ErrorCode | null;
  }
  interface FastifyContextConfig {
    /** For a route that is a protected resource of its own (RFC 9728): its path, and the scopes to start with. */
    resource?: { path: string; scopes: readonly Scope[] };
  }
}

export const errorReplies = plugin(async (app: FastifyInstance, { config }: { config: Config }) => {
  app.decorateReply('errorCode', null);
  app.setErrorHandler((error, request, reply) => sendError(config, error, request, reply));
});

export function sendError(config: Config, error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const { known, occurrence } = beginErrorAnswer(config, error, request, reply);
  const chat = isChatPath(request.url);
  const problem = !chat && wantsProblem(request);
  reply
    .header('vary', 'Accept, X-Machine-Client')
    .header('content-type', problem ? 'application/problem+json' : 'application/json; charset=utf-8');
  if (chat && isRetriedAtACost(known, request.idempotencyKey)) reply.header('x-should-retry', 'false');
  const body = chat
    ? chatErrorBody(occurrence)
    : problem
      ? problemBody(occurrence, config.baseUrl)
      : errorBody(occurrence);
  return reply.send(JSON.stringify(body));
}

/** The parts that all error answers share, whatever the body: status, headers, and the code for metrics and logs. */
export function beginErrorAnswer(
  config: Config,
  error: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
): { known: ApiError; occurrence: Occurrence } {
  const { known, occurrence, status } = describeError(error, request);
  reply.errorCode = known.code;
  reply.code(status);
  if (occurrence.retryAfterSeconds !== undefined) reply.header('retry-after', String(occurrence.retryAfterSeconds));
  const { resource } = request.routeOptions.config;
  if (status === 401) reply.header('www-authenticate', challenge(config, known, resource));
  if (known.circumstances.headers) reply.headers(known.circumstances.headers);
  if (known.code === 'insufficient_scope' && resource) {
    const refusal = String(reply.getHeader('www-authenticate'));
    reply.header('www-authenticate', `${refusal}, ${metadataOf(config, resource)}`);
  }
  return { known, occurrence };
}

/** What the answer says about an error. Faults of ours are logged. */
export function describeError(
  error: unknown,
  request: FastifyRequest,
): { known: ApiError; occurrence: Occurrence; status: number } {
  const known = toApiError(error);
  const { status } = ERRORS[known.code];
  if (status >= 500) request.log.error({ err: error, code: known.code }, 'request.failed');
  return { known, occurrence: occurrenceOf(known, request.id), status };
}

function occurrenceOf({ code, circumstances }: ApiError, requestId: string): Occurrence {
  const { detail, issues, retryAfterSeconds, recovery, members } = circumstances;
  return { code, requestId, detail, issues, retryAfterSeconds, recovery, members };
}

/** Problem Details are only for callers that name them: a wildcard is not enough, and `q=0` refuses them. */
export function wantsProblem({ headers }: Pick<FastifyRequest, 'headers'>): boolean {
  if (String(headers['x-machine-client']).toLowerCase() === 'true') return true;
  return (headers.accept ?? '').split(',').some((range) => {
    const [type, ...parameters] = range.split(';').map((part) => part.trim().toLowerCase());
    return type === 'application/problem+json' && !parameters.some((parameter) => /^q=0(\.0*)?$/.test(parameter));
  });
}

type Resource = FastifyContextConfig['resource'];

function challenge(config: Config, { code }: ApiError, resource: Resource): string {
  const scope = resource ? `, scope="${resource.scopes.join(' ')}"` : '';
  const metadata = `Bearer ${metadataOf(config, resource)}${scope}`;
  return code === 'invalid_api_key' ? `${metadata}, error="invalid_token"` : metadata;
}

const metadataOf = ({ baseUrl }: Config, resource: Resource): string =>
  `resource_metadata="${baseUrl}/.well-known/oauth-protected-resource${resource?.path ?? ''}"`;
