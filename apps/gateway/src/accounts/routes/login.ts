import { Type } from '@sinclair/typebox';
import type { FastifyInstance } from 'fastify';
import { access } from '../../http/access.ts';
import { errors, orPage, redirect } from '../../http/answers.ts';
import { ApiError } from '../../http/api-error.ts';
import type { AccountsContext } from '../context.ts';
import type { OnFailedLogin } from '../login/failed-login.ts';
import { ATTEMPT_COOKIE, attemptCookieOptions, createAttempt } from '../login/login-attempt.ts';
import { nextPageOf } from '../login/next-page.ts';

/** GET /api/auth/login: redirects to the identity provider. `next` must be one of our pages: no open redirect. */
export function loginRoute(app: FastifyInstance, context: AccountsContext, onFailedLogin: OnFailedLogin): void {
  app.get<{ Querystring: { next?: string } }>(
    '/api/auth/login',
    {
      config: { operation: 'login' },
      schema: {
        operationId: 'login',
        tags: ['Account'],
        summary: 'Sign in (browser)',
        security: access.none,
        querystring: Type.Object({
          next: Type.Optional(Type.String({ description: 'The page to return to after the login.' })),
        }),
        response: { 302: redirect('Redirects to the identity provider.'), ...orPage(errors('not_configured')) },
      },
    },
    async (request, reply) => {
      const { baseUrl } = context.config;
      try {
        const { url, cookie } = await startAttempt(context, nextPageOf(request.query.next));
        return reply.setCookie(ATTEMPT_COOKIE, cookie, attemptCookieOptions(baseUrl)).redirect(url, 302);
      } catch (error) {
        return onFailedLogin(request, reply, error);
      }
    },
  );
}

async function startAttempt(context: AccountsContext, next: string | null): Promise<{ url: string; cookie: string }> {
  const { identityProvider } = context;
  if (!identityProvider) {
    throw new ApiError('not_configured', { detail: 'This service has no identity provider.' });
  }
  const { attempt, cookie } = await createAttempt(context, next);
  return { url: await identityProvider.loginUrl(attempt), cookie };
}
