import { IntentMatches, IntentMatchRequest } from '@eloquentpoll/contracts';
import { Type } from '@sinclair/typebox';
import type { FastifyInstance } from 'fastify';
import { access } from '../../http/access.ts';
import { errors, jsonAnswer, READS_BODY } from '../../http/answers.ts';
import { invalid } from '../../http/api-error.ts';
import { comparisonKey } from '../../http/validation/option-rules.ts';
import type { PollsContext } from '../../polls/context.ts';
import { intentsOf } from '../intents/catalogue.ts';
import { rankIntents } from '../intents/match-intents.ts';

/** POST /api/intents/match: finds the operation that a text asks for, by its words, without a model. */
export function matchIntentsRoute(app: FastifyInstance, context: Pick<PollsContext, 'panels'>): void {
  const intents = intentsOf(context);
  app.post<{ Body: IntentMatchRequest }>(
    '/api/intents/match',
    {
      config: { operation: 'compute', idempotent: 'by nature' },
      // Before schema validation, because a missing text has its own error code.
      preValidation: async ({ body }) => {
        if (!hasText(body))
          throw invalid([{ pointer: '#/text', detail: 'text must be a string that is not empty' }], 'missing_text');
      },
      schema: {
        operationId: 'matchIntents',
        tags: ['Feedback'],
        summary: 'Match a text to intents',
        description:
          'Uses only the words and form of the text, so the same text always gets the same answer. Returns at most five matches with a score of 0.3 or more, best first.',
        security: access.none,
        body: Type.Ref(IntentMatchRequest),
        response: { 200: jsonAnswer('The matches.', IntentMatches), ...errors(...READS_BODY, 'missing_text') },
      },
    },
    async ({ body }): Promise<IntentMatches> => rankIntents(body.text, intents),
  );
}

const hasText = (body: unknown): boolean =>
  typeof body === 'object' &&
  body !== null &&
  'text' in body &&
  typeof body.text === 'string' &&
  comparisonKey(body.text) !== '';
