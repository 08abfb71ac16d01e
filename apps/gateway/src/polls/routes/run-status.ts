import { ERRORS, SessionStatusBody } from '@eloquentpoll/contracts';
import { findResultOfPoll } from '@eloquentpoll/storage';
import { type Static, Type } from '@sinclair/typebox';
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
import { whyFailed, whyWithoutResult } from '../read/why-failed.ts';
import { waitForChange } from '../run/wait-for-change.ts';
import { RunPath } from './run-path.ts';

const MAX_WAIT_S = 30;

const WAIT = `Seconds to wait for the end or a change, at most ${MAX_WAIT_S}: \`wait=30\`.`;

const INCLUDE = Type.Object({
  include: Type.Optional(
    Type.Unsafe<'result'>({
      type: 'string',
      enum: ['result'],
      description: '`result`: if the poll has ended, also its result or failure.',
    }),
  ),
});

/**
 * GET /api/polls/{id}/status: the state of a run, at once or as a long poll. A caller that sends no ETag waits for the
 * end; a caller that sends the ETag of its last answer waits for any change.
 */
export function runStatusRoute(app: FastifyInstance, context: PollsContext): void {
  app.get<{ Params: RunPath; Querystring: Static<typeof INCLUDE>; Headers: { prefer?: string } }>(
    '/api/polls/:id/status',
    {
      config: { operation: 'session' },
      validatorCompiler: anyHeaders,
      schema: {
        operationId: 'getSessionStatus',
        tags: ['Polling'],
        summary: 'Get poll status',
        description:
          'Can be polled often. With `Prefer: wait=30`, the response is sent when the poll has ended, at the latest after 30 seconds; with `If-None-Match` as well, as soon as anything has changed. `include=result` saves the request for the result.',
        security: access.bearer,
        params: RunPath,
        querystring: INCLUDE,
        headers: Type.Object({
          prefer: Type.Optional(Type.String({ description: WAIT })),
          'if-none-match': Type.Optional(Type.String({ description: 'The `ETag` of the last response.' })),
        }),
        response: {
          200: jsonAnswer('The status; `result_id` is present once the poll has a result.', SessionStatusBody),
          ...NOT_MODIFIED,
          ...errors(...NEEDS_KEY, 'session_not_found'),
        },
      },
    },
    async (request, reply) => {
      const { include } = request.query;
      const known = request.headers['if-none-match'];
      let run = await readOwnRun(context, await authorizeRun(context, request, request.params.id));
      const seconds = preferredWait(request.headers.prefer, MAX_WAIT_S);
      if (seconds !== null) reply.header('preference-applied', `wait=${seconds}`);
      const isNews = ({ status, tag }: RunView): boolean =>
        status !== 'running' || (known !== undefined && !namesTag(known, tag));
      if (seconds && !isNews(run)) {
        const stop = AbortSignal.any([goneSignal(reply), context.shutdown.closing]);
        run = await waitForChange(context, run, isNews, seconds * 1_000, stop);
      }
      const isWhole = include === 'result' && run.status !== 'running';
      const tag = isWhole ? `"${run.status}+result"` : run.tag;
      reply.header('etag', tag).header('cache-control', 'private, no-cache');
      if (run.status === 'running') reply.header('retry-after', '1');
      if (namesTag(known, tag)) return reply.code(304).send();
      const body = isWhole ? JSON.stringify(await endOf(context, run)) : run.body;
      return reply.header('content-type', 'application/json; charset=utf-8').send(body);
    },
  );
}

/** The status, and what `/result` would answer. */
async function endOf(context: PollsContext, { pollId, status, resultId }: RunView): Promise<SessionStatusBody> {
  const run = { session_id: pollId, status, result_id: resultId };
  const stored = await findResultOfPoll(context.storage, pollId);
  if (status === 'completed' && stored) return { ...run, result: stored.detail };
  const { code, detail = ERRORS[code].description } = stored
    ? whyFailed(stored.detail)
    : await whyWithoutResult(context, pollId, 'poll_failed');
  return { ...run, failure: { code, error: detail } };
}
