import type { FastifyInstance, FastifyRequest } from 'fastify';
import { access } from '../../http/access.ts';
import { errors, redirect } from '../../http/answers.ts';
import { ApiError } from '../../http/api-error.ts';
import type { AccountsContext } from '../context.ts';
import { clearLoginCookies, endLogin, LOGIN_COOKIE, readLogin } from '../login/login-cookie.ts';

/** GET /api/auth/logout: ends the login, also for copies of its cookie, then redirects to the provider's logout. */
export function logoutRoute(app: FastifyInstance, context: AccountsContext): void {
  const { baseUrl } = context.config;
  app.get(
    '/api/auth/logout',
    {
      config: { operation: 'login' },
      schema: {
        operationId: 'logout',
        tags: ['Account'],
        summary: 'Sign out (browser)',
        security: access.none,
        response: { 302: redirect('Signed out; redirects to the identity provider.'), ...errors('forbidden_origin') },
      },
    },
    async (request, reply) => {
      if (!isNavigation(request)) {
        throw new ApiError('forbidden_origin', {
          detail: 'Open this address directly to sign out; it cannot be requested from inside a page.',
        });
      }
      const cookie = request.cookies[LOGIN_COOKIE];
      const found = cookie === undefined ? null : await readLogin(context, cookie);
      if (found) await endLogin(context, found.loginId);
      const url = await context.identityProvider?.logoutUrl();
      return clearLoginCookies(reply, baseUrl).redirect(url ?? `${baseUrl}/`, 302);
    },
  );
}

/** Refuses subresource requests (images, frames, scripts) and prefetches. Clients without these headers pass. */
function isNavigation({ headers }: FastifyRequest): boolean {
  const { 'sec-fetch-dest': destination = 'document', 'sec-purpose': purpose, purpose: oldPurpose } = headers;
  return destination === 'document' && purpose === undefined && oldPurpose === undefined;
}
