import { SessionStatusBody } from '@eloquentpoll/contracts';
import { Type } from '@sinclair/typebox';
import type { FastifyInstance } from 'fastify';
import { access } from '../../http/access.ts';
import { errors, json, NEEDS_KEY, NOT_MODIFIED } from '../../http/answers.ts';
import { closingSignal } from '../../http/closing-signal.ts';
import { goneSignal } from '../../http/gone-signal.ts';
import { namesTag } from '../../http/send-tagged.ts';
import { preferredWait } from '../../http/validation/preferred-wait.ts';
import { anyHeaders } from '../../http/validation/validator.ts';
import type { PollsContext } from '../context.ts';
import { openSession } from '../read/open-run.ts';
import type { SessionView } from '../read/run-view.ts';
import { waitForNews } from '../read/wait-for-news.ts';
import { SessionPath } from './run-path.ts';

const MOST_SECONDS = 30;

const WAIT = `Seconds to wait for news, at most ${MOST_SECONDS}: \`wait=30\`.`;

/**
 * GET /api/polls/{id}/status: how a session stands, at once or as soon as it is news. What news is depends on what the
 * caller knows: who sends no tag waits for the end of the poll, so that one request per session is enough; who names the
 * tag of the last answer waits for any change, and so follows every vote with as many requests.
 */
export function sessionStatus(app: FastifyInstance, context: PollsContext): void {
  const closing = closingSignal(app);

  app.get<{ Params: SessionPath; Headers: { prefer?: string } }>(
    '/api/polls/:id/status',
    {
      config: { operation: 'session' },
      validatorCompiler: anyHeaders,
      schema: {
        operationId: 'getSessionStatus',
        tags: ['Polling'],
        summary: 'How a poll is doing',
        description:
          'Made to be asked often. With `Prefer: wait=30` the answer comes when the poll has ended, or after 30 seconds; with `If-None-Match` as well, as soon as anything has changed.',
        security: access.bearer,
        params: SessionPath,
        headers: Type.Object({
          prefer: Type.Optional(Type.String({ description: WAIT })),
          'if-none-match': Type.Optional(Type.String({ description: 'The `ETag` of the last answer.' })),
        }),
        response: {
          200: json('The status; `result_id` is there once the poll has a result.', SessionStatusBody),
          ...NOT_MODIFIED,
          ...errors(...NEEDS_KEY, 'session_not_found'),
        },
      },
    },
    async (request, reply) => {
      const known = request.headers['if-none-match'];
      const seconds = preferredWait(request.headers.prefer, MOST_SECONDS);
      let view = await openSession(context, request, request.params.id);
      if (seconds !== null) reply.header('preference-applied', `wait=${seconds}`);
      const isNews = ({ status, tag }: SessionView): boolean =>
        status !== 'running' || (known !== undefined && !namesTag(known, tag));
      if (seconds && !isNews(view)) {
        const stop = AbortSignal.any([goneSignal(reply), closing, context.shutdown.signal]);
        view = await waitForNews(context, view, isNews, seconds * 1_000, stop);
      }
      reply.header('etag', view.tag).header('cache-control', 'private, no-cache');
      if (view.status === 'running') reply.header('retry-after', '1');
      if (namesTag(known, view.tag)) return reply.code(304).send();
      return reply.header('content-type', 'application/json; charset=utf-8').send(view.body);
    },
  );
}
