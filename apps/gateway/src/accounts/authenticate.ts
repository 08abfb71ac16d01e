import type { FastifyInstance, FastifyRequest, RouteOptions } from 'fastify';
import plugin from 'fastify-plugin';
import { type Access, bearerOf, type Principal, waysToKey } from '../http/access.ts';
import { ApiError } from '../http/api-error.ts';
import type { AccountsContext } from './context.ts';
import { principalOfUserId } from './keys/user-id-bearer.ts';
import { COOKIE } from './login/login-cookie.ts';
import { principalOfBearer, principalOfCookie } from './principal.ts';

// Who may call an operation is said once, in its schema's `security`, which the OpenAPI document shows too. A route
// that does not say it does not start. Where a bearer counts, one that is present must be good, even where none is
// needed, and decides where a cookie is present too; an operation for everybody does not look at it. What a cookie does,
// no page of anybody else has asked for.

export const auth = plugin(async (app: FastifyInstance, { context }: { context: AccountsContext }) => {
  app.decorateRequest('principal', null);
  app.addHook('onRoute', (route) => {
    const security = securityOf(route);
    if (security.length === 0) return;
    // Reading a session authenticates, counts and reads in one step: see polls/open-session.ts.
    if (route.config?.operation === 'session') return;
    const ways = new Set(security.flatMap((way) => (Object.keys(way).length === 0 ? ['none'] : Object.keys(way))));
    const authenticate = async (request: FastifyRequest) => {
      request.principal =
        (ways.has('apiKey') ? await principalOfHeader(context, request) : null) ??
        (ways.has('session') ? await principalOfSession(context, request) : null);
      if (!request.principal && !ways.has('none')) throw unauthenticated(context, request, ways);
    };
    route.onRequest = [authenticate, ...[route.onRequest ?? []].flat()];
  });
});

function securityOf({ method, url, schema }: RouteOptions): Access {
  if (!schema?.security) throw new Error(`${method} ${url} does not say who may call it: set schema.security`);
  return schema.security;
}

function unauthenticated(context: AccountsContext, request: FastifyRequest, ways: ReadonlySet<string>): ApiError {
  if (ways.has('apiKey')) return new ApiError('authentication_required', { recovery: waysToKey(context.config) });
  if (request.headers.authorization === undefined) return new ApiError('authentication_required');
  return new ApiError('authentication_required', {
    detail: 'This operation takes the session cookie of a login, not a bearer key: open /api/auth/login in a browser.',
  });
}

async function principalOfSession(context: AccountsContext, request: FastifyRequest): Promise<Principal | null> {
  const cookie = request.cookies[COOKIE];
  const principal = cookie === undefined ? null : await principalOfCookie(context, cookie);
  if (principal && !SAFE.has(request.method) && isOfAnotherPage(request, context.config.baseUrl)) {
    throw new ApiError('forbidden_origin', { detail: 'A cookie does not count in requests from pages of others.' });
  }
  return principal;
}

const SAFE = new Set(['GET', 'HEAD', 'OPTIONS']);

/**
 * Browsers say where a request that changes something comes from. What says nothing is a program with a cookie of its
 * own, such as a wallet that logged in by itself, and nobody else's page can make it call.
 */
function isOfAnotherPage({ headers }: FastifyRequest, baseUrl: string): boolean {
  if (headers.origin !== undefined) return headers.origin !== baseUrl;
  return (headers['sec-fetch-site'] ?? 'same-origin') !== 'same-origin';
}

async function principalOfHeader(context: AccountsContext, request: FastifyRequest): Promise<Principal | null> {
  const bearer = bearerOf(request.headers.authorization);
  if (bearer === null) return null;
  const principal =
    (await principalOfBearer(context, bearer)) ?? (await principalOfOldBearer(context, request, bearer));
  if (!principal) throw new ApiError('invalid_api_key');
  return principal;
}

const principalOfOldBearer = async (context: AccountsContext, { routeOptions }: FastifyRequest, bearer: string) =>
  routeOptions.config.takesUserId ? principalOfUserId(context, bearer) : null;
