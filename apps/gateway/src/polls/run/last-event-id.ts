import { Type } from '@sinclair/typebox';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { BudgetName } from '../../config/rate-limit-policies.ts';
import { ApiError } from '../../http/api-error.ts';
import { prefersEventStream } from '../../http/sse/open-event-stream.ts';
import type { PollsContext } from '../context.ts';
import type { ShortOrder } from '../order/short-order.ts';
import type { CallerKind } from '../order/themes.ts';
import { LAST } from './stream-events.ts';
import { resumeStream } from './stream-poll.ts';

// An EventSource reconnects by itself whenever a stream ends, with the request that it began with. Only Last-Event-ID
// says that it wants the same poll and not another one.

export const StreamHeaders = Type.Object({
  'last-event-id': Type.Optional(
    Type.String({
      description:
        'The `id` of the last event that you received: the stream of the same poll continues, at no cost. A `session_id` follows that poll from its current state.',
    }),
  ),
});

export const lastEventIdOf = ({ headers }: FastifyRequest): string => String(headers['last-event-id'] ?? '').trim();

/** Whether the request continues the stream of a poll. */
export const resumesStream = (request: FastifyRequest): boolean =>
  lastEventIdOf(request) !== '' && prefersEventStream(request);

/** Its rate-limit budget: that of reading a session, or of public reading without an account. */
export const resumeBudget = (caller: CallerKind): BudgetName => (caller === 'anonymous' ? 'read' : 'session');

/** The answer to a request that continues a stream of a route whose callers may have no account. */
export async function resumeForCaller(
  context: PollsContext,
  request: FastifyRequest,
  reply: FastifyReply,
  quickResultOf?: ShortOrder['optionsSource'],
): Promise<FastifyReply | undefined> {
  const lastEventId = lastEventIdOf(request);
  const { principal } = request;
  if (principal) {
    return resumeStream(context, request, reply, { lastEventId, accountId: principal.accountId, quickResultOf });
  }
  if (lastEventId.endsWith(`:${LAST}`)) return reply.code(204).send();
  throw new ApiError('session_not_found', { detail: WITHOUT_ACCOUNT });
}

const WITHOUT_ACCOUNT =
  'The stream of a free poll without an account cannot be continued. The poll goes on; its result will be at the result_url of the first event.';

export const NO_MORE_EVENTS = {
  description: 'Last-Event-ID is the id of the last event; there are no more events.',
  type: 'null',
} as const;
