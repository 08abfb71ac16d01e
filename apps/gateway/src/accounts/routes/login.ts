import type { FastifyInstance } from 'fastify';
import type { Context } from '../../context.ts';
import { errors, orPage, redirect } from '../../http/answers.ts';
import { ApiError } from '../../http/api-error.ts';
import { access } from '../authenticate.ts';
import { ATTEMPT_COOKIE, attemptCookieOptions, beginAttempt } from '../login/login-attempt.ts';
import { failedLogin } from './failed-login.ts';

/** GET /api/auth/login: off to the identity provider. Where the way ends is ours to say, so nothing is read here. */
export function login(app: FastifyInstance, context: Context): void {
  app.get(
    '/api/auth/login',
    {
      config: { operation: 'login' },
      schema: {
        operationId: 'login',
        tags: ['Account'],
        summary: 'Log in at the identity provider, in a browser',
        security: access.none,
        response: { 302: redirect('On to the identity provider.'), ...orPage(errors('not_configured')) },
      },
    },
    async (request, reply) => {
      const { baseUrl } = context.config;
      try {
        const { url, cookie } = await wayToProvider(context);
        return reply.setCookie(ATTEMPT_COOKIE, cookie, attemptCookieOptions(baseUrl)).redirect(url, 302);
      } catch (error) {
        return failedLogin(baseUrl, request, reply, error);
      }
    },
  );
}

async function wayToProvider(context: Context): Promise<{ url: string; cookie: string }> {
  const { identityProvider } = context;
  if (!identityProvider) {
    throw new ApiError('not_configured', { detail: 'This service has no identity provider.' });
  }
  const { attempt, cookie } = await beginAttempt(context);
  return { url: await identityProvider.loginUrl(attempt), cookie };
}
