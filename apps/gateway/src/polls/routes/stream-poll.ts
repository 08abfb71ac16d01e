import { SessionRequest } from '@eloquentpoll/contracts';
import { type Static, Type } from '@sinclair/typebox';
import type { FastifyInstance } from 'fastify';
import { access, accountOf } from '../../http/access.ts';
import { errors, NEEDS_KEY, READS_BODY, textAnswer } from '../../http/answers.ts';
import { requireEventStream } from '../../http/sse/open-event-stream.ts';
import type { PollsContext } from '../context.ts';
import { readSessionOrder } from '../order/session-order.ts';
import { lastEventIdOf, NO_MORE_EVENTS, StreamHeaders } from '../run/last-event-id.ts';
import { resumeStream, streamPoll } from '../run/stream-poll.ts';
import { submissionOf } from '../run/submission.ts';

const StreamQuery = Type.Object({
  progress: Type.Optional(
    Type.Unsafe<'all' | 'none'>({
      type: 'string',
      enum: ['all', 'none'],
      default: 'all',
      description: '`none`: one `started` event, then nothing until the end.',
    }),
  ),
});

/**
 * POST /api/poll/stream: runs a poll and sends its events. A caller that reconnects with Last-Event-ID, or with the
 * same Idempotency-Key, follows the same poll and pays nothing.
 */
export function streamPollRoute(app: FastifyInstance, context: PollsContext): void {
  app.addHook('preClose', () => context.streams.close());

  app.post<{ Querystring: Static<typeof StreamQuery> }>(
    '/api/poll/stream',
    {
      // A request that resumes a stream needs no body.
      attachValidation: true,
      config: {
        operation: (request) => (lastEventIdOf(request) ? 'session' : 'poll'),
        budgetOfHeaders: true,
        idempotent: true,
      },
      schema: {
        operationId: 'streamPoll',
        tags: ['Polling'],
        summary: 'Stream a poll',
        description:
          'Server-Sent Events: `started` at the start and with every vote, each with the complete state; then one `complete`, whose data is the poll response, or one `error`. After a broken connection, send `Last-Event-ID` to continue; the body is then ignored. The events are described in /asyncapi.json.',
        security: access.bearer,
        querystring: StreamQuery,
        headers: StreamHeaders,
        body: Type.Ref(SessionRequest),
        response: {
          200: textAnswer('The events.', 'text/event-stream'),
          204: NO_MORE_EVENTS,
          ...errors(
            ...READS_BODY,
            ...NEEDS_KEY,
            'invalid_preset',
            'insufficient_balance',
            'too_many_running',
            'provider_budget_reached',
            'polls_stopped',
            'not_configured',
            'session_not_found',
            'not_acceptable',
            'idempotency_key_reused',
          ),
        },
      },
    },
    async (request, reply) => {
      const { validationError: problem } = request;
      const lastEventId = lastEventIdOf(request);
      if (problem && !(lastEventId && problem.validationContext === 'body')) throw problem;
      requireEventStream(request);
      const progress = request.query.progress !== 'none';
      if (lastEventId) {
        return resumeStream(context, request, reply, { lastEventId, accountId: accountOf(request), progress });
      }
      const submission = submissionOf(context, request, 'stream', {
        order: readSessionOrder(context, request.body, 'awaited'),
      });
      return streamPoll(context, request, reply, submission, { progress });
    },
  );
}
