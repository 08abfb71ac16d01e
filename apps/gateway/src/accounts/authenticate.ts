import { AccountMoving } from '@eloquentpoll/storage';
import type { FastifyInstance, FastifyRequest, RouteOptions } from 'fastify';
import plugin from 'fastify-plugin';
import {
  type Access,
  bearerOf,
  keyRecoveryActions,
  type Principal,
  requireWriting,
  SAFE_METHODS,
} from '../http/access.ts';
import { ApiError } from '../http/api-error.ts';
import { countAhead } from '../http/hooks/rate-limit.ts';
import { clientNetwork } from '../http/rate-limits/client-network.ts';
import type { AccountsContext } from './context.ts';
import type { HashedKey } from './keys/hashed-key.ts';
import { principalOfUserId } from './keys/user-id-bearer.ts';
import { NoAccountHere } from './login/access-token.ts';
import { LOGIN_COOKIE } from './login/login-cookie.ts';
import { principalOfBearer, principalOfCookie } from './principal.ts';

// A route's schema declares who may call it (`security`, also in OpenAPI); without it the gateway does not start. A
// bearer that is sent must be valid, even where it is optional, and takes precedence over a cookie. Read-only keys are
// refused by unsafe methods, except on routes with `readsOnly`. A recently used key is looked up while its call is
// counted, in one trip to Redis; if the budget depends on the body, once the body is read. A request that was
// authenticated before its whole body arrived is authenticated again then, so that a key revoked in the meantime has no
// effect.

declare module 'fastify' {
  interface FastifyRequest {
    /** The likely owner of the key, for requests that authenticate once their body is read. */
    presumed: HashedKey['lately'] | null;
    /** The request was authenticated before its body was complete. */
    isBodyAwaited: boolean;
  }
}

export const auth = plugin(async (app: FastifyInstance, { context }: { context: AccountsContext }) => {
  app.decorateRequest('principal', null);
  app.decorateRequest('presumed', null);
  app.decorateRequest('isBodyAwaited', false);
  app.addHook('onRoute', (route) => {
    const security = securityOf(route);
    if (security.length === 0) return;
    // Status requests authenticate and count together with their read: see polls/read/authorize-run.ts.
    if (route.config?.operation === 'session') return;
    const isReading = route.config?.readsOnly ?? [route.method].flat().every((method) => SAFE_METHODS.has(method));
    const schemes = new Set(security.flatMap((one) => (Object.keys(one).length === 0 ? ['none'] : Object.keys(one))));
    const identify = async (request: FastifyRequest) =>
      (schemes.has('apiKey') ? await principalOfHeader(context, request) : null) ??
      (schemes.has('session') ? await principalOfLogin(context, request) : null);
    const authenticate = async (request: FastifyRequest) => {
      request.principal = await (route.config?.isPublic ? identify(request).catch(asStranger) : identify(request));
      if (!request.principal && !schemes.has('none')) throw unauthenticated(context, request, schemes);
      if (!isReading) requireWriting(request.principal);
      request.isBodyAwaited = request.principal !== null && request.raw.complete === false;
    };
    const { operation, budgetOfHeaders = false } = route.config ?? {};
    const readsBody = typeof operation === 'function' && !budgetOfHeaders;
    const mayWait = readsBody && schemes.has('none');
    const begin = async (request: FastifyRequest) => {
      const owner = schemes.has('apiKey') ? latelyOf(context, request) : undefined;
      if (owner !== undefined && mayWait) {
        request.presumed = owner;
        return;
      }
      if (owner !== undefined && !readsBody) countAhead(context, request, owner);
      await authenticate(request);
    };
    route.onRequest = [begin, ...[route.onRequest ?? []].flat()];
    const goOn = async (request: FastifyRequest) => {
      if (request.presumed) countAhead(context, request, request.presumed);
      if (request.presumed || request.isBodyAwaited) await authenticate(request);
    };
    route.preValidation = [goOn, ...[route.preValidation ?? []].flat()];
  });
});

/** Public data may be in another cell than the reader's account; such a reader counts as anonymous. */
function asStranger(error: unknown): null {
  if (error instanceof AccountMoving || error instanceof NoAccountHere) return null;
  throw error;
}

function securityOf({ method, url, schema }: RouteOptions): Access {
  if (!schema?.security) throw new Error(`${method} ${url}: schema.security is missing`);
  return schema.security;
}

function unauthenticated(context: AccountsContext, request: FastifyRequest, schemes: ReadonlySet<string>): ApiError {
  if (schemes.has('apiKey')) return new ApiError('authentication_required', { recovery: keyRecoveryActions(context) });
  if (request.headers.authorization === undefined) return new ApiError('authentication_required');
  return new ApiError('authentication_required', {
    detail: 'This operation takes the session cookie of a login, not a bearer key: open /api/auth/login in a browser.',
  });
}

async function principalOfLogin(context: AccountsContext, request: FastifyRequest): Promise<Principal | null> {
  const cookie = request.cookies[LOGIN_COOKIE];
  const principal = cookie === undefined ? null : await principalOfCookie(context, cookie);
  if (principal && !SAFE_METHODS.has(request.method) && isCrossOrigin(request, context.config.baseUrl)) {
    throw new ApiError('forbidden_origin', { detail: 'A cookie does not count in requests from pages of others.' });
  }
  return principal;
}

/** Browsers send Origin or Sec-Fetch-Site with unsafe methods. A client without both is a program, not a page. */
function isCrossOrigin({ headers }: FastifyRequest, baseUrl: string): boolean {
  if (headers.origin !== undefined) return headers.origin !== baseUrl;
  return (headers['sec-fetch-site'] ?? 'same-origin') !== 'same-origin';
}

function latelyOf({ hashedKey }: AccountsContext, { headers }: FastifyRequest): HashedKey['lately'] {
  const bearer = bearerOf(headers.authorization);
  return bearer === null ? undefined : hashedKey(bearer)?.lately;
}

async function principalOfHeader(context: AccountsContext, request: FastifyRequest): Promise<Principal | null> {
  const bearer = bearerOf(request.headers.authorization);
  if (bearer === null) return null;
  const principal =
    (await principalOfBearer(context, bearer, clientNetwork(request.ip), !request.routeOptions.config.isPublic)) ??
    (await principalOfDeprecatedBearer(context, request, bearer));
  if (!principal) throw new ApiError('invalid_api_key');
  return principal;
}

const principalOfDeprecatedBearer = async (
  context: AccountsContext,
  { routeOptions }: FastifyRequest,
  bearer: string,
) => (routeOptions.config.takesUserId ? principalOfUserId(context, bearer) : null);
