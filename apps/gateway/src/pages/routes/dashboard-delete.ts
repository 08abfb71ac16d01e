import { emptyPolls, inTransaction } from '@eloquentpoll/storage';
import { Type } from '@sinclair/typebox';
import type { FastifyInstance, FastifyReply } from 'fastify';
import type { Facts } from '../../discovery/documents/facts.ts';
import { access } from '../../http/access.ts';
import { errors, orPage, redirect, textAnswer } from '../../http/answers.ts';
import { type FormBody, takeForms, valuesOf } from '../../http/form-bodies.ts';
import { forgetDeleted } from '../../polls/run/forget-deleted.ts';
import type { PagesContext } from '../context.ts';
import { chosenIds, listIds, MAX_CHOSEN, pollIdsOf } from '../dashboard/chosen-polls.ts';
import { DELETE_PATH, deletePollsPage } from '../dashboard/delete-polls-page.ts';
import { POLLS_PATH } from '../dashboard/polls-page.ts';
import { historyRows } from '../dashboard/read-polls.ts';
import { HTML_TYPE, PAGE_HEADERS } from '../layout.ts';
import { signInPage } from '../sign-in-page.ts';

/** Deletes polls chosen by hand: the page that asks for confirmation, and its form. */
export async function dashboardDeleteRoutes(
  app: FastifyInstance,
  { context, facts }: { context: PagesContext; facts: Facts },
): Promise<void> {
  const page = (reply: FastifyReply) => reply.type(HTML_TYPE).headers({ ...PAGE_HEADERS, 'cache-control': 'no-store' });
  takeForms(app);

  app.get<{ Querystring: { id?: string[] } }>(
    DELETE_PATH,
    {
      config: { operation: 'account' },
      preValidation: listIds,
      schema: {
        operationId: 'getPollDeletion',
        tags: ['System'],
        summary: 'Poll deletion page',
        security: access.sessionOptional,
        querystring: Type.Object({ id: chosenIds('Session ids of the polls to delete.') }),
        response: { 200: textAnswer('The page.', 'text/html'), ...orPage(errors('authentication_required')) },
      },
    },
    async ({ principal, query, url }, reply) => {
      if (!principal) return page(reply).code(401).send(signInPage(facts, url));
      const rows = await historyRows(context, principal.accountId, pollIdsOf(query.id));
      return page(reply).send(deletePollsPage(facts.baseUrl, rows));
    },
  );

  app.post<{ Body: FormBody }>(
    DELETE_PATH,
    {
      config: { operation: 'account' },
      schema: {
        operationId: 'sendPollDeletion',
        tags: ['System'],
        summary: 'Poll deletion form',
        security: access.sessionOptional,
        response: {
          303: redirect('Redirects to the polls.'),
          ...orPage(
            errors('authentication_required', 'forbidden_origin', 'payload_too_large', 'unsupported_media_type'),
          ),
        },
      },
    },
    async ({ principal, body }, reply) => {
      if (!principal) return page(reply).code(401).send(signInPage(facts, POLLS_PATH));
      const chosen = pollIdsOf(valuesOf(body, 'id')).slice(0, MAX_CHOSEN);
      // Polls that do not exist, or were deleted before, count as deleted.
      const own = (await historyRows(context, principal.accountId, chosen)).map(({ pollId }) => pollId);
      await forgetDeleted(context, await inTransaction(context.storage, (tx) => emptyPolls(tx, own)));
      return reply.redirect(`${context.config.baseUrl}${POLLS_PATH}`, 303);
    },
  );
}
