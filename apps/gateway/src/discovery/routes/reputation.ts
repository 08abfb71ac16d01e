import { ModelReputations, Reputation } from '@eloquentpoll/contracts';
import type { TSchema } from '@sinclair/typebox';
import type { FastifyInstance } from 'fastify';
import { access } from '../../http/access.ts';
import { errors, jsonAnswer, NOT_MODIFIED } from '../../http/answers.ts';
import { sendPublicText } from '../../http/send-tagged.ts';
import type { Reputations } from '../reputations.ts';

/** GET /api/reputation and /api/reputation/models. */
export function reputationRoutes(app: FastifyInstance, snapshot: Reputations): void {
  document('/api/reputation', 'getReputation', 'Get service record', Reputation, {
    description: 'Counted from stored polls every five minutes. Rates without data are null.',
    textOf: ({ service }) => service,
  });
  document('/api/reputation/models', 'getModelReputation', 'Get model records', ModelReputations, {
    description: 'Counted every five minutes from the votes of the polls that GET /api/reputation covers.',
    textOf: ({ models }) => models,
  });

  interface View {
    description: string;
    textOf(documents: { service: string; models: string }): string;
  }

  function document(path: string, operationId: string, summary: string, shape: TSchema, view: View): void {
    app.get(
      path,
      {
        config: { operation: 'read' },
        schema: {
          operationId,
          tags: ['System'],
          summary,
          description: view.description,
          security: access.none,
          response: { 200: jsonAnswer('The figures.', shape), ...NOT_MODIFIED, ...errors() },
        },
      },
      async (request, reply) => {
        const { value } = await snapshot();
        reply.header('cache-control', 'public, max-age=300').type('application/json; charset=utf-8');
        return sendPublicText(request, reply, view.textOf(value));
      },
    );
  }
}
