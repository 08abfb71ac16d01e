import { ERRORS } from '@eloquentpoll/contracts';
import { Type } from '@sinclair/typebox';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { BudgetName } from '../../config/rate-limit-policies.ts';
import type { Facts } from '../../discovery/documents/facts.ts';
import { access } from '../../http/access.ts';
import { errors, orPage, redirect, textAnswer } from '../../http/answers.ts';
import { ApiError } from '../../http/api-error.ts';
import { type FormBody, takeForms, valuesOf } from '../../http/form-bodies.ts';
import { beginErrorAnswer } from '../../http/hooks/errors.ts';
import { freeOrder, isRefused, readFree } from '../../polls/order/free-reading.ts';
import { readShortOrder } from '../../polls/order/short-order.ts';
import { runAndWait } from '../../polls/run/run-and-wait.ts';
import { submissionOf } from '../../polls/run/submission.ts';
import { askedBefore } from '../asked-before.ts';
import { freePollProblem } from '../browser/free-poll-problem.ts';
import type { PagesContext } from '../context.ts';
import { FREE_POLL_LIMITS, type FreePoll } from '../free-poll-form.ts';
import { HTML_TYPE, PAGE_HEADERS } from '../layout.ts';
import { playgroundPage } from '../playground-page.ts';

interface PlaygroundQuery {
  question?: string;
  option?: string | string[];
  again?: string;
  wording?: string;
  search?: string;
  reasons?: string;
}

const PAGE = textAnswer('The page.', 'text/html');
const HEADERS = { ...PAGE_HEADERS, 'cache-control': 'no-store' };

/**
 * GET /playground: a free poll in the browser, filled in from the query parameters. POST: the form sent without
 * scripts, which redirects to the result page.
 */
export async function playgroundRoutes(
  app: FastifyInstance,
  { context, facts }: { context: PagesContext; facts: Facts },
): Promise<void> {
  takeForms(app);

  async function filledPoll(query: PlaygroundQuery): Promise<FreePoll> {
    const { question = '', option = [], again = '', wording } = query;
    const asked = await askedBefore(context, null, again);
    if (!asked)
      return {
        question,
        options: [option].flat(),
        search: query.search === 'true',
        reasons: query.reasons === 'true',
      };
    const { options, search, reasons } = asked;
    return { question: wording === 'new' ? '' : (asked.question ?? ''), options, search, reasons };
  }

  app.get<{ Querystring: PlaygroundQuery }>(
    '/playground',
    {
      config: { operation: 'read' },
      schema: {
        operationId: 'getPlayground',
        tags: ['System'],
        summary: 'Playground page',
        security: access.none,
        querystring: Type.Object({
          question: Type.Optional(Type.String({ description: 'Question to fill in; it is not run.' })),
          option: Type.Optional(Type.Union([Type.String(), Type.Array(Type.String())])),
          again: Type.Optional(
            Type.String({ description: 'Id of a result; fills the form with its poll.', maxLength: 200 }),
          ),
          wording: Type.Optional(Type.String({ description: '`new`: leaves the question empty.', maxLength: 200 })),
          search: Type.Optional(Type.String({ description: '`true`: the models search the web.', maxLength: 200 })),
          reasons: Type.Optional(Type.String({ description: '`true`: each model gives its reason.', maxLength: 200 })),
        }),
        response: { 200: PAGE, ...errors() },
      },
    },
    async ({ query }, reply) =>
      reply
        .type(HTML_TYPE)
        .headers(HEADERS)
        .send(playgroundPage(facts, await filledPoll(query))),
  );

  app.post<{ Body: FormBody }>(
    '/playground',
    {
      config: { operation: budgetOf },
      onRequest: refuseForeignForm,
      schema: {
        operationId: 'sendPlayground',
        tags: ['System'],
        summary: 'Playground form',
        security: access.none,
        response: {
          303: redirect('Redirects to the result page.'),
          ...orPage(errors('forbidden_origin', 'payload_too_large', 'unsupported_media_type', 'poll_execution_failed')),
        },
      },
    },
    async (request, reply) => {
      const poll = pollOf(request.body);
      try {
        const order = freeOrder(request) ?? readShortOrder(bodyOf(poll), 'anonymous');
        const submission = submissionOf(context, request, 'quick-poll', order);
        const result = await runAndWait(context, reply, submission);
        return reply.redirect(`${context.config.baseUrl}/result/${result.poll_id}`, 303);
      } catch (error) {
        // Shows the form again with its content and the error.
        const { code, detail } = beginErrorAnswer(context.config, error, request, reply).occurrence;
        const mistake = code === 'validation_error' ? freePollProblem(poll, FREE_POLL_LIMITS) : null;
        const says = mistake?.says ?? detail ?? ERRORS[code].description;
        return reply
          .type(HTML_TYPE)
          .headers(HEADERS)
          .send(playgroundPage(facts, poll, says));
      }
    },
  );
}

function budgetOf(request: FastifyRequest): BudgetName {
  request.freeReading = readFree(bodyOf(pollOf(request.body as FormBody)), 'anonymous');
  return isRefused(request.freeReading) ? 'compute' : 'free_poll';
}

/** Must run before anything is counted: a page of another site must not use up its visitors' free polls. */
async function refuseForeignForm({ headers }: FastifyRequest): Promise<void> {
  if (headers['sec-fetch-site'] === 'cross-site')
    throw new ApiError('forbidden_origin', { detail: 'This form can only be sent from its own page.' });
}

function pollOf(body: FormBody): FreePoll {
  const [question = ''] = valuesOf(body, 'question');
  return {
    question,
    options: valuesOf(body, 'option').filter((option) => option.trim() !== ''),
    search: valuesOf(body, 'search').length > 0,
    reasons: valuesOf(body, 'reasons').length > 0,
  };
}

/** The same body that the form's script sends. */
const bodyOf = ({ question, options, search, reasons }: FreePoll): object => ({
  question,
  options,
  ...(search && { theme: 'free_search' }),
  ...(reasons && { reasons: true }),
});
