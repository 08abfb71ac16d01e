import { IntentListing } from '@eloquentpoll/contracts';
import type { FastifyInstance } from 'fastify';
import { access } from '../../http/access.ts';
import { errors, jsonAnswer, NOT_MODIFIED } from '../../http/answers.ts';
import { sendPublicText } from '../../http/send-tagged.ts';
import type { PollsContext } from '../../polls/context.ts';
import { intentsOf } from '../intents/catalogue.ts';

/** GET /api/intents: the intents with their trigger phrases and parameters. */
export function intentsRoute(app: FastifyInstance, context: Pick<PollsContext, 'panels'>): void {
  const intents = intentsOf(context);
  const listing = JSON.stringify({ version: '1.0.0', count: intents.length, intents });
  app.get(
    '/api/intents',
    {
      config: { operation: 'read' },
      schema: {
        operationId: 'listIntents',
        tags: ['Feedback'],
        summary: 'List intents',
        security: access.none,
        response: { 200: jsonAnswer('The intents.', IntentListing), ...NOT_MODIFIED, ...errors() },
      },
    },
    async (request, reply) => {
      reply.header('cache-control', 'public, max-age=3600').type('application/json; charset=utf-8');
      return sendPublicText(request, reply, listing);
    },
  );
}
