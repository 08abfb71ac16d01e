import { createHmac } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import { fingerprintOf } from '../../http/fingerprint.ts';
import { principalOf } from '../../http/hooks/rate-limit.ts';
import { traceparentOf } from '../../http/hooks/request-ids.ts';
import type { PollsContext } from '../context.ts';
import type { ShortOrder } from '../order/short-order.ts';
import type { Submission } from './submit-poll.ts';

/** Makes a submission from a validated request. Requests with equal fingerprints get equal answers. */
export function submissionOf(
  context: PollsContext,
  request: FastifyRequest,
  entryPoint: string,
  { order, optionsSource = 'caller' }: Pick<ShortOrder, 'order'> & Partial<ShortOrder>,
): Submission {
  const key = request.idempotencyKey;
  return {
    order,
    accountId: request.principal?.accountId ?? null,
    tenant: tenantOf(context, request),
    keyId: request.principal?.keyId,
    entryPoint,
    requestId: request.id,
    traceparent: request.span?.traceparent ?? traceparentOf(request.headers.traceparent),
    idempotency:
      key === null
        ? undefined
        : {
            principal: tenantOf(context, request),
            entryPoint,
            key,
            fingerprint: fingerprintOf(optionsSource === 'server' ? { ...order, optionsSource } : order),
          },
  };
}

/** The account, or a keyed hash of an anonymous caller's network: recognisable, without storing the address. */
function tenantOf({ config }: PollsContext, request: FastifyRequest): string {
  if (request.principal) return request.principal.accountId;
  return `network:${createHmac('sha256', config.keyPepper).update(principalOf(request)).digest('base64url')}`;
}
