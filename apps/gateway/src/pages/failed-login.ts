import { ERRORS } from '@eloquentpoll/contracts';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { SiteFacts } from '../discovery/documents/facts.ts';
import type { ApiError } from '../http/api-error.ts';
import { toApiError } from '../http/hooks/to-api-error.ts';
import { failedLoginPage } from './failed-login-page.ts';
import { HTML_TYPE, PAGE_HEADERS } from './layout.ts';

/** Answers a failed login with a page if the client is a browser; other clients get the error. */
export function failedLogin(
  facts: SiteFacts,
  { headers: { accept = '', 'x-machine-client': machine }, log }: FastifyRequest,
  reply: FastifyReply,
  error: unknown,
): FastifyReply {
  if (machine !== undefined || !/text\/html/i.test(accept)) throw error;
  const known = toApiError(error);
  const { status } = ERRORS[known.code];
  if (status >= 500) log.error({ err: error, code: known.code }, 'request.failed');
  reply.errorCode = known.code;
  const { retryAfterSeconds } = known.circumstances;
  if (retryAfterSeconds !== undefined) reply.header('retry-after', String(retryAfterSeconds));
  return reply
    .code(status)
    .type(HTML_TYPE)
    .headers({ ...PAGE_HEADERS, 'cache-control': 'no-store', vary: 'Accept, X-Machine-Client' })
    .send(failedLoginPage(facts, reasonOf(known)));
}

const reasonOf = ({ code, circumstances: { detail } }: ApiError): string => detail ?? ERRORS[code].description;
