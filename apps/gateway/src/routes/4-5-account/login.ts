import type { FastifyInstance } from 'fastify';
import { ATTEMPT_COOKIE, attemptCookieOptions, beginAttempt } from '../../accounts/login-attempt.ts';
import { ApiError } from '../../api-error.ts';
import type { Context } from '../../context.ts';
import { access } from '../../plugins/auth.ts';
import { errors, redirect } from '../answers.ts';

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
        response: { 302: redirect('On to the identity provider.'), ...errors('not_configured') },
      },
    },
    async (_request, reply) => {
      const { identityProvider, config } = context;
      if (!identityProvider) {
        throw new ApiError('not_configured', { detail: 'This service has no identity provider.' });
      }
      const { attempt, cookie } = await beginAttempt(context);
      const url = await identityProvider.loginUrl(attempt);
      return reply.setCookie(ATTEMPT_COOKIE, cookie, attemptCookieOptions(config.baseUrl)).redirect(url, 302);
    },
  );
}
