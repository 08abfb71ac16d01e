import { isResultId } from '@eloquentpoll/polls';
import { readFeedbackSummary, storeFeedback } from '@eloquentpoll/storage';
import { Type } from '@sinclair/typebox';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { linkHeader } from '../../discovery/documents/links.ts';
import { access } from '../../http/access.ts';
import { errors, orPage, redirect, textAnswer } from '../../http/answers.ts';
import { ApiError } from '../../http/api-error.ts';
import { type FormBody, takeForms, valuesOf } from '../../http/form-bodies.ts';
import { RESULT_HEADERS, resultWithId } from '../../polls/read/find-result.ts';
import { toResultDetail } from '../../polls/read/public-result.ts';
import { resultCard } from '../card/result-card.ts';
import type { PagesContext } from '../context.ts';
import { HTML_TYPE, PAGE_HEADERS } from '../layout.ts';
import { noResultPage } from '../missing-page.ts';
import { resultPage, type ShownResult } from '../result-page.ts';

const PAGE = textAnswer('The page.', 'text/html');
const HEADERS = { ...PAGE_HEADERS, 'x-robots-tag': 'noindex', vary: 'Accept' };
const Params = Type.Object({ resultId: Type.String() });

interface Route {
  Params: { resultId: string };
}

/** GET /result/{resultId}: a result as a page, public to holders of its id, with its feedback form. */
export async function resultPageRoutes(app: FastifyInstance, { context }: { context: PagesContext }): Promise<void> {
  const { storage, config } = context;
  takeForms(app);

  async function pageOf(resultId: string, word: ShownResult['word']): Promise<string> {
    const found = await resultWithId(context, resultId);
    const feedback = await readFeedbackSummary(storage, resultId);
    return resultPage({ baseUrl: config.baseUrl, result: toResultDetail(found), feedback, word });
  }

  app.get<Route & { Querystring: { feedback?: string } }>(
    '/result/:resultId',
    {
      config: { operation: 'read' },
      schema: {
        operationId: 'getResultPage',
        tags: ['Results'],
        summary: 'A result for people, for anyone who holds its id',
        security: access.none,
        params: Params,
        querystring: Type.Object({
          feedback: Type.Optional(Type.String({ description: '`thanks`: after giving it.' })),
        }),
        response: { 200: PAGE, ...orPage(errors('result_not_found')) },
      },
    },
    async (request, reply) => {
      reply.headers(HEADERS);
      try {
        const page = await pageOf(request.params.resultId, request.query.feedback === 'thanks' ? 'thanks' : null);
        const asJson = { rel: 'alternate', path: `/api/results/${request.params.resultId}`, type: 'application/json' };
        const headers = { link: linkHeader([asJson]), 'cache-control': 'public, max-age=30' };
        return reply.type(HTML_TYPE).headers(headers).send(page);
      } catch (error) {
        if (!(error instanceof ApiError) || error.code !== 'result_not_found' || readsJson(request)) throw error;
        return reply.code(404).type(HTML_TYPE).send(noResultPage(config.baseUrl));
      }
    },
  );

  app.get<Route>(
    '/result/:resultId/card.png',
    {
      config: { operation: 'read' },
      schema: { hide: true, security: access.none, response: errors('result_not_found') },
    },
    async (request, reply) => {
      const found = await resultWithId(context, request.params.resultId);
      return reply
        .headers(RESULT_HEADERS)
        .type('image/png')
        .send(await resultCard(toResultDetail(found)));
    },
  );

  app.post<Route & { Body: FormBody }>(
    '/result/:resultId/feedback',
    {
      config: { operation: 'account' },
      schema: {
        operationId: 'sendResultFeedback',
        tags: ['Feedback'],
        summary: 'The opinion of a reader on the page of a result; POST /api/feedback for programs',
        security: access.sessionOptional,
        params: Params,
        response: {
          303: redirect('Back to the page.'),
          ...orPage(
            errors(
              'account_frozen',
              'authentication_required',
              'result_not_found',
              'forbidden_origin',
              'payload_too_large',
              'unsupported_media_type',
            ),
          ),
        },
      },
    },
    async (request, reply) => {
      const { resultId } = request.params;
      if (!request.principal) {
        const page = await pageOf(resultId, 'sign-in');
        return reply.code(401).headers(HEADERS).type(HTML_TYPE).send(page);
      }
      const [outcome] = valuesOf(request.body, 'outcome');
      const opinion = {
        accountId: request.principal.accountId,
        resultId,
        outcomeCorrect: outcome === 'correct' ? true : outcome === 'incorrect' ? false : null,
        confidence: null,
        notes: null,
      };
      const given = isResultId(resultId) ? await storeFeedback(storage, opinion) : null;
      if (given === null) throw new ApiError('result_not_found');
      return reply.redirect(`${config.baseUrl}/result/${resultId}?feedback=thanks#feedback`, 303);
    },
  );
}

/** Browsers accept HTML; other clients get the error in the type that they accept. */
const readsJson = ({ headers: { accept = '*/*', 'x-machine-client': machine } }: FastifyRequest): boolean =>
  machine !== undefined || !/text\/html|\*\/\*/i.test(accept);
