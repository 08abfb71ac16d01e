import { createHmac } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import { fingerprintOf } from '../../http/fingerprint.ts';
import { principalOf } from '../../http/hooks/rate-limit.ts';
import { traceparentOf } from '../../http/hooks/request-ids.ts';
import type { PollsContext } from '../context.ts';
import type { PollOrder } from '../order/poll-order.ts';
import type { Submission } from './submit-poll.ts';

/**
 * What a request that runs a poll comes to. `entryPoint` is the operation, whatever door led to it; its Idempotency-Keys
 * are its own. `form` is what else decides how the answer looks: with it, equal keys get equal answers.
 */
export function submissionOf(
  context: PollsContext,
  request: FastifyRequest,
  order: PollOrder,
  entryPoint: string,
  form: object = {},
): Submission {
  const key = request.idempotencyKey;
  return {
    order,
    accountId: request.principal?.accountId ?? null,
    entryPoint,
    requestId: request.id,
    traceparent: request.span?.traceparent ?? traceparentOf(request.headers.traceparent),
    idempotency:
      key === null
        ? undefined
        : { principal: keyOwner(context, request), key, fingerprint: fingerprintOf({ ...order, ...form }) },
  };
}

/** An account, or the network of an anonymous caller: not its address, only what recognises it. */
function keyOwner({ config }: PollsContext, request: FastifyRequest): string {
  if (request.principal) return request.principal.accountId;
  return `network:${createHmac('sha256', config.keyPepper).update(principalOf(request)).digest('base64url')}`;
}
