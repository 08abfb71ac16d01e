import { Estimate, EstimateQuery } from '@eloquentpoll/contracts';
import type { FastifyInstance } from 'fastify';
import { access } from '../../http/access.ts';
import { errors, jsonAnswer } from '../../http/answers.ts';
import type { PollsContext } from '../context.ts';
import { estimatePoll } from '../order/estimate-poll.ts';
import { typicalOrder } from '../order/typical-poll.ts';

/** GET /api/poll/estimate: what a poll of this kind takes, whatever its texts. */
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
          'For a question and options of usual length, at list prices and with the latest latencies and failure rates. No model is called.',
        security: access.none,
        querystring: EstimateQuery,
        response: { 200: jsonAnswer('The estimate.', Estimate), ...errors('validation_error', 'invalid_preset') },
      },
    },
    async ({ query: { options, ...terms } }, reply): Promise<Estimate> => {
      reply.header('cache-control', 'public, max-age=10');
      return estimatePoll(context, typicalOrder(terms, options));
    },
  );
}
