import { Estimate, EstimateQuery, SavedPanelRequest } from '@eloquentpoll/contracts';
import type { FastifyInstance } from 'fastify';
import { access } from '../../http/access.ts';
import { errors, jsonAnswer } from '../../http/answers.ts';
import { invalid } from '../../http/api-error.ts';
import { issuesOf } from '../../http/validation/validator.ts';
import type { PollsContext } from '../context.ts';
import { chooseModels, NEEDS_ACCOUNT } from '../order/choose-models.ts';
import { estimatePoll } from '../order/estimate-poll.ts';
import { panelIssues } from '../order/poll-order.ts';
import { typicalOrder } from '../order/typical-poll.ts';

/** GET /api/poll/estimate: cost and duration of such a poll, whatever its texts. */
export function estimateRoute(app: FastifyInstance, context: PollsContext): void {
  app.get<{ Querystring: EstimateQuery }>(
    '/api/poll/estimate',
    {
      config: { operation: 'compute' },
      schema: {
        operationId: 'estimatePoll',
        tags: ['Polling'],
        summary: 'Estimate cost and time',
        description:
          'For a question and options of usual length, at list prices and with recent latencies and failure rates. No model is called.',
        security: access.none,
        querystring: EstimateQuery,
        response: { 200: jsonAnswer('The estimate.', Estimate), ...errors('validation_error', 'invalid_preset') },
      },
    },
    async ({ query }, reply): Promise<Estimate> => {
      if ('panel' in query) throw invalid([NEEDS_ACCOUNT]);
      const { options, models: list, ...terms } = declared(query);
      const request = { ...terms, ...(list !== undefined && { models: modelList(list) }) };
      const issues = panelIssues(request);
      if (issues.length > 0) throw invalid(issues);
      const order = await chooseModels(context, typicalOrder(request, options), null);
      reply.header('cache-control', 'public, max-age=10');
      return estimatePoll(context, order);
    },
  );
}

/** Keeps only declared parameters: others were not checked. */
const declared = (query: EstimateQuery): EstimateQuery =>
  Object.fromEntries(Object.entries(query).filter(([name]) => name in EstimateQuery.properties));

/** Checks a list in the query by the rules for the same list in a body. */
function modelList(text: string): string[] {
  const models = text.split(',').map((id) => id.trim());
  const issues = issuesOf(SavedPanelRequest, { models });
  if (issues.length > 0) throw invalid(issues);
  return models;
}
