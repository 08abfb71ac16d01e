import { AccountMoving, admitIdentity, type KnownIdentity, noteEmail } from '@eloquentpoll/storage';
import { Type } from '@sinclair/typebox';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { access } from '../../http/access.ts';
import { errors, orPage, redirect } from '../../http/answers.ts';
import { ApiError } from '../../http/api-error.ts';
import type { AccountsContext } from '../context.ts';
import { accountFrozen } from '../frozen.ts';
import type { OnFailedLogin } from '../login/failed-login.ts';
import { CALLBACK_PATH, type Person } from '../login/identity-provider.ts';
import { ATTEMPT_COOKIE, attemptCookieOptions, consumeAttempt } from '../login/login-attempt.ts';
import {
  createLogin,
  endLogin,
  LOGIN_COOKIE,
  readLogin,
  setLoginCookies,
  setRouteCookie,
} from '../login/login-cookie.ts';

const CallbackQuery = Type.Object({
  code: Type.String({ description: 'Sent by the identity provider, like the other parameters.' }),
});

interface Route {
  Querystring: { code?: unknown; error?: unknown };
}

/** GET /api/auth/callback: the redirect from the identity provider. Sets the login cookie, or answers 401. */
export function loginCallbackRoute(app: FastifyInstance, context: AccountsContext, onFailedLogin: OnFailedLogin): void {
  const { baseUrl } = context.config;
  app.get<Route>(
    CALLBACK_PATH,
    {
      // An invalid query is a failed login (401), not an invalid request.
      attachValidation: true,
      config: { operation: 'login' },
      schema: {
        operationId: 'loginCallback',
        tags: ['Account'],
        summary: 'Sign-in callback',
        security: access.none,
        querystring: CallbackQuery,
        response: {
          302: redirect('Signed in; redirects to the dashboard.'),
          ...orPage(errors('login_failed', 'account_frozen')),
        },
      },
    },
    async (request, reply) => {
      let found: { person: Person; next: string | null };
      try {
        found = await redeemCallback(context, request, reply);
      } catch (error) {
        request.log.info({ err: error }, 'login.failed');
        return onFailedLogin(request, reply, error);
      }
      const { person, next } = found;
      const identity = await admitted(context, person);
      // The provider's code is used up, so the account's own cell has to start a new login.
      if ('movedTo' in identity) {
        const again = next === null ? '' : `?${new URLSearchParams({ next })}`;
        return setRouteCookie(reply, baseUrl, identity.movedTo).redirect(`${baseUrl}/api/auth/login${again}`, 302);
      }
      if (identity.isFrozen) return onFailedLogin(request, reply, accountFrozen());
      if (person.email) await noteEmail(context.storage, identity.accountId, person.email);
      await endPreviousLogin(context, request);
      const cookie = await createLogin(context, identity);
      return setLoginCookies(reply, context.config, { accountId: identity.accountId, cookie }).redirect(
        `${baseUrl}${next ?? '/dashboard'}`,
        302,
      );
    },
  );
}

async function admitted({ storage }: AccountsContext, person: Person): Promise<KnownIdentity | { movedTo: string }> {
  try {
    return await admitIdentity(storage, { kind: 'oidc', ...person });
  } catch (error) {
    if (error instanceof AccountMoving && error.movedTo !== null) return { movedTo: error.movedTo };
    throw error;
  }
}

async function redeemCallback(
  context: AccountsContext,
  request: FastifyRequest<Route>,
  reply: FastifyReply,
): Promise<{ person: Person; next: string | null }> {
  const cookie = request.cookies[ATTEMPT_COOKIE];
  const attempt = cookie === undefined ? null : await consumeAttempt(context, cookie);
  // Not earlier: if the attempt could not be consumed, the same callback may be repeated.
  reply.clearCookie(ATTEMPT_COOKIE, attemptCookieOptions(context.config.baseUrl));
  // A provider that declines sends `error` instead of `code`.
  const hasOutcome = !request.validationError || typeof request.query.error === 'string';
  if (!attempt || !context.identityProvider || !hasOutcome) {
    throw new ApiError('login_failed', {
      detail: 'The login was not started in this browser, was used before or has expired.',
    });
  }
  const person = await context.identityProvider.redeem(request.url.slice(request.url.indexOf('?')), attempt);
  return { person, next: attempt.next };
}

/** A new login in a browser replaces the previous one. */
async function endPreviousLogin(context: AccountsContext, request: FastifyRequest): Promise<void> {
  const cookie = request.cookies[LOGIN_COOKIE];
  const previous = cookie === undefined ? null : await readLogin(context, cookie);
  if (previous) await endLogin(context, previous.loginId);
}
