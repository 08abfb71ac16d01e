import { SessionStatusBody } from '@eloquentpoll/contracts';
import { Type } from '@sinclair/typebox';
import type { FastifyInstance } from 'fastify';
import { access } from '../../http/access.ts';
import { errors, jsonAnswer, NEEDS_KEY, NOT_MODIFIED } from '../../http/answers.ts';
import { goneSignal } from '../../http/gone-signal.ts';
import { namesTag } from '../../http/send-tagged.ts';
import { preferredWait } from '../../http/validation/preferred-wait.ts';
import { anyHeaders } from '../../http/validation/validator.ts';
import type { PollsContext } from '../context.ts';
import { authorizeRun } from '../read/authorize-run.ts';
import { readOwnRun } from '../read/read-run.ts';
import type { RunView } from '../read/run-view.ts';
import { waitForChange } from '../run/wait-for-change.ts';
import { RunPath } from './run-path.ts';

const MAX_WAIT_S = 30;

const WAIT = `Seconds to wait for news, at most ${MAX_WAIT_S}: \`wait=30\`.`;

/**
 * GET /api/polls/{id}/status: how a run stands, at once or as a long poll. A caller that sends no tag waits for the end;
 * one that sends the tag of its last answer waits for any change.
 */
export function runStatusRoute(app: FastifyInstance, context: PollsContext): void {
  app.get<{ Params: RunPath; Headers: { prefer?: string } }>(
    '/api/polls/:id/status',
    {
      config: { operation: 'session' },
      validatorCompiler: anyHeaders,
      schema: {
        operationId: 'getSessionStatus',
        tags: ['Polling'],
        summary: 'Get poll status',
        description:
          'Made to be asked often. With `Prefer: wait=30` the answer comes when the poll has ended, or after 30 seconds; with `If-None-Match` as well, as soon as anything has changed.',
        security: access.bearer,
        params: RunPath,
        headers: Type.Object({
          prefer: Type.Optional(Type.String({ description: WAIT })),
          'if-none-match': Type.Optional(Type.String({ description: 'The `ETag` of the last answer.' })),
        }),
        response: {
          200: jsonAnswer('The status; `result_id` is there once the poll has a result.', SessionStatusBody),
          ...NOT_MODIFIED,
          ...errors(...NEEDS_KEY, 'session_not_found'),
        },
      },
    },
    async (request, reply) => {
      const known = request.headers['if-none-match'];
      const seconds = preferredWait(request.headers.prefer, MAX_WAIT_S);
      let run = await readOwnRun(context, await authorizeRun(context, request, request.params.id));
      if (seconds !== null) reply.header('preference-applied', `wait=${seconds}`);
      const isNews = ({ status, tag }: RunView): boolean =>
        status !== 'running' || (known !== undefined && !namesTag(known, tag));
      if (seconds && !isNews(run)) {
        const stop = AbortSignal.any([goneSignal(reply), context.shutdown.closing]);
        run = await waitForChange(context, run, isNews, seconds * 1_000, stop);
      }
      reply.header('etag', run.tag).header('cache-control', 'private, no-cache');
      if (run.status === 'running') reply.header('retry-after', '1');
      if (namesTag(known, run.tag)) return reply.code(304).send();
      return reply.header('content-type', 'application/json; charset=utf-8').send(run.body);
    },
  );
}
