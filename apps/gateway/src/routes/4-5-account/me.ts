import { CurrentUser } from '@eloquentpoll/contracts';
import type { FastifyInstance } from 'fastify';
import { currentUser } from '../../accounts/current-user.ts';
import { ApiError } from '../../api-error.ts';
import type { Context } from '../../context.ts';
import { access, accountOf } from '../../plugins/auth.ts';
import { errors, json } from '../answers.ts';

/** GET /api/auth/me: who is logged in. */
export function me(app: FastifyInstance, { storage }: Context): void {
  app.get(
    '/api/auth/me',
    {
      config: { operation: 'account' },
      schema: {
        operationId: 'getCurrentUser',
        tags: ['Account'],
        summary: 'Who is logged in',
        security: access.session,
        response: { 200: json('The account of the session.', CurrentUser), ...errors('authentication_required') },
      },
    },
    async (request): Promise<CurrentUser> => {
      const user = await currentUser(storage, accountOf(request));
      if (!user) throw new ApiError('authentication_required');
      return user;
    },
  );
}
