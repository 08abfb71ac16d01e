import { isFree, isResultId, ownersFigures } from '@eloquentpoll/polls';
import {
  findPollByResult,
  type Poll,
  pollsOfQuestion,
  type Result,
  readFeedbackSummary,
  refuseMovedResult,
  storeFeedback,
  wasCanceled,
} from '@eloquentpoll/storage';
import { Type } from '@sinclair/typebox';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Facts } from '../../discovery/documents/facts.ts';
import { linkHeader } from '../../discovery/documents/links.ts';
import { access } from '../../http/access.ts';
import { errors, NOT_MODIFIED, orPage, redirect, textAnswer } from '../../http/answers.ts';
import { ApiError } from '../../http/api-error.ts';
import { type FormBody, takeForms, valuesOf } from '../../http/form-bodies.ts';
import { wantsProblem } from '../../http/hooks/errors.ts';
import { inAskedForm } from '../../http/hooks/page-markdown.ts';
import { sendMadeOf, sendPublicText } from '../../http/send-tagged.ts';
import { RESULT_HEADERS, resultWithId } from '../../polls/read/find-result.ts';
import { toResultDetail } from '../../polls/read/public-result.ts';
import { watchPoll } from '../../polls/run/stream-poll.ts';
import { resultCard } from '../card/result-card.ts';
import type { PagesContext } from '../context.ts';
import { DELETE_PATH } from '../dashboard/delete-polls-page.ts';
import { HTML_TYPE, PAGE_HEADERS } from '../layout.ts';
import { canceledPage, noResultPage } from '../missing-page.ts';
import { type ResultReader, resultPage, STRANGER } from '../result-page.ts';
import { runningPage } from '../running-page.ts';

const PAGE = textAnswer('The page.', 'text/html');
const HEADERS = { ...PAGE_HEADERS, 'x-robots-tag': 'noindex', vary: 'Accept, Cookie' };
const Params = Type.Object({ resultId: Type.String() });

interface Route {
  Params: { resultId: string };
}

/**
 * GET /result/{resultId}: the page of a poll from its first second. While the poll runs it shows progress, later the
 * result with a feedback form. Anyone with the id may see it; while a paid poll runs, only its owner.
 */
export async function resultPageRoutes(
  app: FastifyInstance,
  { context, facts }: { context: PagesContext; facts: Facts },
): Promise<void> {
  const { storage, bus, config } = context;
  takeForms(app);

  async function pageOf(result: Result, request: FastifyRequest, thanks = false): Promise<string> {
    const feedback = await readFeedbackSummary(storage, result.resultId);
    const reader = await readerOf(result, request);
    const hasReceipt = result.hasReceipt && context.receipts !== null;
    const { isCanceled } = result;
    return resultPage({ facts, result: toResultDetail(result), isCanceled, feedback, reader, hasReceipt, thanks });
  }

  async function readerOf({ pollId, accountId, detail }: Result, { principal }: FastifyRequest): Promise<ResultReader> {
    if (principal === null || principal.accountId !== accountId) return { ...STRANGER, signedIn: principal !== null };
    return {
      signedIn: true,
      figures: isFree(detail.preset) ? {} : ownersFigures(detail),
      deletePath: `${DELETE_PATH}?id=${pollId}`,
      sameQuestion: await pollsOfQuestion(storage, accountId, detail),
    };
  }

  /** The running poll with this id, if the caller may watch it. */
  async function watchable(resultId: string, { principal }: FastifyRequest): Promise<Poll | null> {
    const poll = isResultId(resultId) ? await findPollByResult(storage, resultId) : null;
    const isTheirs = poll !== null && (isFree(poll.spec.panel_name) || poll.accountId === (principal?.accountId ?? ''));
    return isTheirs ? poll : null;
  }

  async function sendRunning(request: FastifyRequest, reply: FastifyReply, poll: Poll): Promise<FastifyReply> {
    const record = await bus.runs.read(poll.id).catch(() => null);
    const page = runningPage({
      baseUrl: config.baseUrl,
      poll,
      snapshot: record?.snapshot ?? null,
      signedIn: request.principal !== null,
    });
    reply.type(HTML_TYPE).header('cache-control', 'no-store');
    return reply.send(inAskedForm(request, reply, page));
  }

  app.get<Route & { Querystring: { feedback?: string } }>(
    '/result/:resultId',
    {
      config: { operation: 'read', isPublic: true, markdownBase: config.baseUrl },
      schema: {
        operationId: 'getResultPage',
        tags: ['Results'],
        summary: 'Result page',
        description: 'For anyone who knows the id: the result, or the progress of the running poll.',
        security: access.sessionOptional,
        params: Params,
        querystring: Type.Object({
          feedback: Type.Optional(Type.String({ description: '`thanks`: after giving it.' })),
        }),
        response: { 200: PAGE, ...NOT_MODIFIED, ...orPage(errors('result_not_found')) },
      },
    },
    async (request, reply) => {
      const { resultId } = request.params;
      reply.headers(HEADERS);
      try {
        const result = await resultWithId(context, resultId);
        const page = await pageOf(result, request, request.query.feedback === 'thanks');
        const asJson = { rel: 'alternate', path: `/api/results/${resultId}`, type: 'application/json' };
        reply.type(HTML_TYPE).header('link', linkHeader([asJson]));
        if (request.principal) {
          return reply.header('cache-control', 'private, no-store').send(inAskedForm(request, reply, page));
        }
        return await sendPublicText(request, reply.header('cache-control', RESULT_HEADERS['cache-control']), page);
      } catch (error) {
        if (!(error instanceof ApiError) || error.code !== 'result_not_found' || readsJson(request)) throw error;
        const poll = await watchable(resultId, request);
        if (poll?.status === 'running') return sendRunning(request, reply, poll);
        const page = poll && (await wasCanceled(storage, poll.id)) ? canceledPage : noResultPage;
        return reply.code(404).type(HTML_TYPE).send(page(facts));
      }
    },
  );

  app.get<Route>(
    '/result/:resultId/events',
    {
      config: { operation: 'read', isPublic: true },
      schema: { hide: true, security: access.sessionOptional, response: errors('result_not_found') },
    },
    async (request, reply) => {
      const { resultId } = request.params;
      const poll = await watchable(resultId, request);
      if (!poll && isResultId(resultId)) await refuseMovedResult(storage, resultId);
      if (!poll) throw new ApiError('result_not_found');
      return watchPoll(context, request, reply, poll);
    },
  );

  app.get<Route>(
    '/result/:resultId/card.png',
    {
      config: { operation: 'read' },
      schema: { hide: true, security: access.none, response: errors('result_not_found') },
    },
    async (request, reply) => {
      const result = await resultWithId(context, request.params.resultId);
      const found = toResultDetail(result);
      reply.headers(RESULT_HEADERS).type('image/png');
      return sendMadeOf(request, reply, JSON.stringify(found), () => resultCard(found, result.isCanceled));
    },
  );

  app.post<Route & { Body: FormBody }>(
    '/result/:resultId/feedback',
    {
      config: { operation: 'account' },
      schema: {
        operationId: 'sendResultFeedback',
        tags: ['Feedback'],
        summary: 'Feedback form',
        security: access.sessionOptional,
        params: Params,
        response: {
          303: redirect('Redirects to the result page.'),
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
        // The login ended after the page with the form was loaded; the page says how to sign in again.
        const page = await pageOf(await resultWithId(context, resultId), request);
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

/** Browsers accept HTML; other clients get the error in the media type that they accept. */
const readsJson = ({ headers }: FastifyRequest): boolean =>
  headers['x-machine-client'] !== undefined ||
  wantsProblem({ headers }) ||
  !/text\/html|\*\/\*/i.test(headers.accept ?? '*/*');
