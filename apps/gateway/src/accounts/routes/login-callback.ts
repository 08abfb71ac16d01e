import { admitIdentity, noteEmail } from '@eloquentpoll/storage';
import { Type } from '@sinclair/typebox';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { access } from '../../http/access.ts';
import { errors, orPage, redirect } from '../../http/answers.ts';
import { ApiError } from '../../http/api-error.ts';
import type { AccountsContext } from '../context.ts';
import type { OnFailedLogin } from '../login/failed-login.ts';
import { CALLBACK_PATH, type Person } from '../login/identity-provider.ts';
import { ATTEMPT_COOKIE, attemptCookieOptions, takeAttempt } from '../login/login-attempt.ts';
import { beginSession, COOKIE, cookieOptions, endSession, readSession } from '../login/login-cookie.ts';

const Answer = Type.Object({ code: Type.String({ description: 'From the identity provider, as is the rest.' }) });

interface Route {
  Querystring: { code?: unknown; error?: unknown };
}

/** GET /api/auth/callback: back from the identity provider. Either everything fits, or nothing is set and it is 401. */
export function loginCallback(app: FastifyInstance, context: AccountsContext, onFailedLogin: OnFailedLogin): void {
  const { baseUrl } = context.config;
  app.get<Route>(
    CALLBACK_PATH,
    {
      // What is wrong with the query is a failed login, not an invalid request.
      attachValidation: true,
      config: { operation: 'login' },
      schema: {
        operationId: 'loginCallback',
        tags: ['Account'],
        summary: 'Where the identity provider sends the browser back to',
        security: access.none,
        querystring: Answer,
        response: { 302: redirect('Logged in: on to the dashboard.'), ...orPage(errors('login_failed')) },
      },
    },
    async (request, reply) => {
      reply.clearCookie(ATTEMPT_COOKIE, attemptCookieOptions(baseUrl));
      let person: Person;
      try {
        person = await whoCameBack(context, request);
      } catch (error) {
        request.log.info({ err: error }, 'login failed');
        return onFailedLogin(request, reply, error);
      }
      const identity = await admitIdentity(context.storage, { kind: 'oidc', ...person });
      if (person.email) await noteEmail(context.storage, identity.accountId, person.email);
      await endEarlierSession(context, request);
      const cookie = await beginSession(context, identity);
      return reply.setCookie(COOKIE, cookie, cookieOptions(baseUrl)).redirect(`${baseUrl}/dashboard`, 302);
    },
  );
}

async function whoCameBack(context: AccountsContext, request: FastifyRequest<Route>): Promise<Person> {
  const cookie = request.cookies[ATTEMPT_COOKIE];
  const attempt = cookie === undefined ? null : await takeAttempt(context, cookie);
  // A provider that says no brings no code.
  const isAnswer = !request.validationError || typeof request.query.error === 'string';
  if (!attempt || !context.identityProvider || !isAnswer) {
    throw new ApiError('login_failed', {
      detail: 'The login was not begun in this browser, was used before or is late.',
    });
  }
  return context.identityProvider.confirm(request.url.slice(request.url.indexOf('?')), attempt);
}

/** The browser's own earlier login gives way to the new one. */
async function endEarlierSession(context: AccountsContext, request: FastifyRequest): Promise<void> {
  const cookie = request.cookies[COOKIE];
  const earlier = cookie === undefined ? null : await readSession(context, cookie);
  if (earlier) await endSession(context, earlier.sessionId);
}
