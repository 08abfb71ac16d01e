import { Balance } from '@eloquentpoll/contracts';
import type { FastifyInstance } from 'fastify';
import { access, accountOf } from '../../http/access.ts';
import { errors, jsonAnswer } from '../../http/answers.ts';
import { ApiError } from '../../http/api-error.ts';
import { readBalance } from '../balance.ts';
import type { AccountsContext } from '../context.ts';

/** GET /api/balance: what the caller can spend and has spent. */
export function balanceRoute(app: FastifyInstance, { storage }: AccountsContext): void {
  app.get(
    '/api/balance',
    {
      config: { operation: 'account' },
      schema: {
        operationId: 'getBalance',
        tags: ['Account'],
        summary: 'Get balance',
        description:
          'Holds of running polls are not part of the balance. The balance is rounded down to whole cents; usage is summed first and then rounded.',
        security: access.session,
        response: { 200: jsonAnswer('The balance.', Balance), ...errors('authentication_required') },
      },
    },
    async (request): Promise<Balance> => {
      const found = await readBalance(storage, accountOf(request));
      if (!found) throw new ApiError('authentication_required');
      return found;
    },
  );
}
