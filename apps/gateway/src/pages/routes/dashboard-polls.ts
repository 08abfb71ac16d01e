import { isPollId } from '@eloquentpoll/polls';
import { listKeys } from '@eloquentpoll/storage';
import { Type } from '@sinclair/typebox';
import type { FastifyInstance } from 'fastify';
import type { Facts } from '../../discovery/documents/facts.ts';
import { access } from '../../http/access.ts';
import { errors, orPage, redirect, textAnswer } from '../../http/answers.ts';
import { takeForms } from '../../http/form-bodies.ts';
import { goneSignal } from '../../http/gone-signal.ts';
import { RunPath } from '../../polls/routes/run-path.ts';
import { cancelRun } from '../../polls/run/cancel-run.ts';
import type { PagesContext } from '../context.ts';
import { chosenIds, listIds, pollIdsOf } from '../dashboard/chosen-polls.ts';
import {
  CUT_NAME,
  EXPORT_FORMATS,
  type ExportFormat,
  MAX_EXPORTED,
  MAX_LOOKED_THROUGH,
} from '../dashboard/polls-export.ts';
import { POLLS_CURSORS, POLLS_QUERY, readPollsFilter } from '../dashboard/polls-filter.ts';
import { POLLS_PATH, pollsPage } from '../dashboard/polls-page.ts';
import { readForExport, readPolls } from '../dashboard/read-polls.ts';
import { HTML_TYPE, PAGE_HEADERS } from '../layout.ts';
import { signInPage } from '../sign-in-page.ts';
import { describedTexts, serveAccountPage } from './serve-account-page.ts';

/** The history on the dashboard: its page, its export, and the form that cancels a running poll. */
export async function dashboardPollsRoutes(
  app: FastifyInstance,
  { context, facts }: { context: PagesContext; facts: Facts },
): Promise<void> {
  const { storage, config, shutdown } = context;
  const signIn = signInPage(facts, POLLS_PATH);
  takeForms(app);

  serveAccountPage(app, facts, {
    path: POLLS_PATH,
    operationId: 'getDashboardPolls',
    summary: 'Polls page of the dashboard',
    query: { ...POLLS_QUERY, ...POLLS_CURSORS },
    render: async (accountId, query) => {
      const shown = readPollsFilter(query);
      const [view, keys] = await Promise.all([readPolls(context, accountId, shown), listKeys(storage, accountId)]);
      return pollsPage(facts.baseUrl, shown, view, keys);
    },
  });

  app.get<{ Querystring: ExportQuery }>(
    `${POLLS_PATH}/export`,
    {
      config: { operation: 'account' },
      preValidation: listIds,
      schema: {
        operationId: 'exportDashboardPolls',
        tags: ['System'],
        summary: 'Export of polls as a file',
        security: access.session,
        querystring: Type.Object({
          ...describedTexts(POLLS_QUERY),
          format: Type.Union([Type.Literal('csv'), Type.Literal('jsonl')]),
          id: chosenIds(
            `Session ids. Without ids, up to ${MAX_EXPORTED} matching polls among ${MAX_LOOKED_THROUGH}; the file is named ${CUT_NAME} if there may be more.`,
          ),
        }),
        response: {
          200: { ...textAnswer('A line for each poll.', 'text/csv'), content: EXPORTED },
          ...errors('authentication_required', 'invalid_preset'),
        },
      },
    },
    async ({ principal, query: { format, id, ...query } }, reply) => {
      const shown = readPollsFilter(query);
      const bounds = { limit: MAX_EXPORTED, maxLooked: MAX_LOOKED_THROUGH, gone: goneSignal(reply) };
      const chosen = { pollIds: pollIdsOf(id), ...bounds };
      const { rows, isCut } = await readForExport(context, principal!.accountId, shown, chosen);
      const { mediaType, write } = EXPORT_FORMATS[format];
      reply.type(mediaType).headers({
        'cache-control': 'no-store',
        'content-disposition': `attachment; filename="${isCut ? CUT_NAME : 'polls'}.${format}"`,
      });
      return write(rows);
    },
  );

  app.post<{ Params: RunPath }>(
    `${POLLS_PATH}/:id/cancel`,
    {
      config: { operation: 'account' },
      schema: {
        operationId: 'sendPollCancellation',
        tags: ['System'],
        summary: 'Poll cancellation form',
        security: access.sessionOptional,
        params: RunPath,
        response: {
          303: redirect('Redirects to the polls.'),
          ...orPage(
            errors('authentication_required', 'forbidden_origin', 'payload_too_large', 'unsupported_media_type'),
          ),
        },
      },
    },
    async ({ principal, params: { id } }, reply) => {
      if (!principal)
        return reply
          .type(HTML_TYPE)
          .headers({ ...PAGE_HEADERS, 'cache-control': 'no-store' })
          .code(401)
          .send(signIn);
      const stop = AbortSignal.any([goneSignal(reply), shutdown.closing]);
      // A poll that does not exist, or has ended, counts as canceled.
      if (isPollId(id)) await cancelRun(context, principal.accountId, id, stop);
      return reply.redirect(`${config.baseUrl}${POLLS_PATH}`, 303);
    },
  );
}

type ExportQuery = { format: ExportFormat; id?: string[] } & Partial<Record<keyof typeof POLLS_QUERY, string>>;

const EXPORTED = { 'text/csv': { schema: Type.String() }, 'application/jsonl': { schema: Type.String() } };
