import type { FastifyInstance, FastifyRequest } from 'fastify';
import { access } from '../../http/access.ts';
import { errors, redirect } from '../../http/answers.ts';
import { ApiError } from '../../http/api-error.ts';
import type { AccountsContext } from '../context.ts';
import { COOKIE, cookieOptions, endSession, readSession } from '../login/login-cookie.ts';

/** GET /api/auth/logout: ends the session wherever its cookie was copied to, then the one at the identity provider. */
export function logout(app: FastifyInstance, context: AccountsContext): void {
  const { baseUrl } = context.config;
  app.get(
    '/api/auth/logout',
    {
      config: { operation: 'login' },
      schema: {
        operationId: 'logout',
        tags: ['Account'],
        summary: 'Log out here and at the identity provider, in a browser',
        security: access.none,
        response: { 302: redirect('Logged out: on to the identity provider.'), ...errors('forbidden_origin') },
      },
    },
    async (request, reply) => {
      if (!isNavigation(request)) {
        throw new ApiError('forbidden_origin', { detail: 'Log out by opening this address, not from inside a page.' });
      }
      const cookie = request.cookies[COOKIE];
      const session = cookie === undefined ? null : await readSession(context, cookie);
      if (session) await endSession(context, session.sessionId);
      const url = await context.identityProvider?.logoutUrl();
      return reply.clearCookie(COOKIE, cookieOptions(baseUrl)).redirect(url ?? `${baseUrl}/`, 302);
    },
  );
}

/**
 * Somebody opened the address. An image, a frame or a script of any page asks as something else, and a browser that
 * fetches ahead of its user says so; clients that say nothing are no browsers that other sites could use.
 */
function isNavigation({ headers }: FastifyRequest): boolean {
  const { 'sec-fetch-dest': destination = 'document', 'sec-purpose': purpose, purpose: oldPurpose } = headers;
  return destination === 'document' && purpose === undefined && oldPurpose === undefined;
}
