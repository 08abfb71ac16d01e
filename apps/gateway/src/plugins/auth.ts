import type { FastifyInstance, FastifyRequest, RouteOptions } from 'fastify';
import plugin from 'fastify-plugin';
import { type Principal, principalOfKey } from '../accounts/principal.ts';
import { ApiError } from '../api-error.ts';
import type { Context } from '../context.ts';

// Who may call an operation is said once, in its schema's `security`, which the OpenAPI document shows too. A route
// that does not say it does not start. A bearer that is present must be good, even where none is needed.

declare module 'fastify' {
  interface FastifyRequest {
    /** null on operations that take no credentials, and for anonymous callers where those are allowed. */
    principal: Principal | null;
  }
}

/** The values of a route's `security`. */
export const access = {
  none: [],
  bearer: [{ apiKey: [] }],
  bearerOptional: [{ apiKey: [] }, {}],
} as const satisfies Record<string, Access>;

type Access = readonly { readonly [scheme: string]: readonly string[] }[];

export const auth = plugin(async (app: FastifyInstance, { context }: { context: Context }) => {
  app.decorateRequest('principal', null);
  app.addHook('onRoute', (route) => {
    const security = securityOf(route);
    if (security.length === 0) return;
    const anonymous = security.some((way) => Object.keys(way).length === 0);
    const authenticate = async (request: FastifyRequest) => {
      request.principal = await principalOf(context, request);
      if (!request.principal && !anonymous) throw new ApiError('authentication_required');
    };
    route.onRequest = [authenticate, ...[route.onRequest ?? []].flat()];
  });
});

function securityOf({ method, url, schema }: RouteOptions): Access {
  if (!schema?.security) throw new Error(`${method} ${url} does not say who may call it: set schema.security`);
  return schema.security;
}

async function principalOf(context: Context, request: FastifyRequest): Promise<Principal | null> {
  const key = bearerOf(request.headers.authorization);
  if (key === null) return null;
  const principal = await principalOfKey(context, key);
  if (!principal) throw new ApiError('invalid_api_key');
  return principal;
}

/** The token of a bearer; another scheme is not ours to judge and counts as no credentials. */
function bearerOf(header: string | undefined): string | null {
  const [, token] = /^bearer(?: +(.*))?$/i.exec(header ?? '') ?? [null, null];
  return token === null ? null : (token ?? '');
}

/** For handlers of operations that only a known account reaches. */
export function accountOf(request: FastifyRequest): string {
  if (!request.principal) throw new ApiError('authentication_required');
  return request.principal.accountId;
}
