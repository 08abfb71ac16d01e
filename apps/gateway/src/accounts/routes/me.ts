import { CurrentUser } from '@eloquentpoll/contracts';
import type { FastifyInstance } from 'fastify';
import { access, accountOf } from '../../http/access.ts';
import { errors, jsonAnswer } from '../../http/answers.ts';
import { ApiError } from '../../http/api-error.ts';
import type { AccountsContext } from '../context.ts';
import { currentUser } from '../current-user.ts';

/** GET /api/auth/me: who is logged in. */
export function meRoute(app: FastifyInstance, { storage }: AccountsContext): void {
  app.get(
    '/api/auth/me',
    {
      config: { operation: 'account' },
      schema: {
        operationId: 'getCurrentUser',
        tags: ['Account'],
        summary: 'Get the signed-in user',
        security: access.session,
        response: { 200: jsonAnswer('The account of the session.', CurrentUser), ...errors('authentication_required') },
      },
    },
    async (request): Promise<CurrentUser> => {
      const user = await currentUser(storage, accountOf(request));
      if (!user) throw new ApiError('authentication_required');
      return user;
    },
  );
}
