import type { RecoveryAction } from '@eloquentpoll/contracts';
import type { FastifyRequest } from 'fastify';
import { ApiError } from './api-error.ts';
import type { HttpContext } from './context.ts';

/** On whose behalf a request acts, and how it proved that. */
export interface Principal {
  accountId: string;
  via: 'api_key' | 'access_token' | 'login' | 'user_id';
  /** The id of the API key that was presented. */
  keyId?: string;
  /** The login behind the cookie. */
  loginId?: string;
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Whether the deprecated bearer, a user id, is accepted. */
    takesUserId?: boolean;
  }
  interface FastifyRequest {
    /** null on operations that take no credentials, and for anonymous callers where those are allowed. */
    principal: Principal | null;
  }
}

export type Access = readonly { readonly [scheme: string]: readonly string[] }[];

/** The values of a route's `security`: who may call it. */
export const access = {
  none: [],
  bearer: [{ apiKey: [] }],
  bearerOptional: [{ apiKey: [] }, {}],
  session: [{ session: [] }],
  sessionOptional: [{ session: [] }, {}],
  sessionOrBearer: [{ session: [] }, { apiKey: [] }],
  sessionOrBearerOptional: [{ session: [] }, { apiKey: [] }, {}],
} as const satisfies Record<string, Access>;

/** How a program can get a key without a human. */
export const keyRecoveryActions = ({ takesDeposits }: Pick<HttpContext, 'takesDeposits'>): RecoveryAction[] =>
  takesDeposits ? ['open_account'] : [];

/** The token of a bearer; another scheme counts as no credentials. */
export function bearerOf(header: string | undefined): string | null {
  const [, token] = /^bearer(?: +(.*))?$/i.exec(header ?? '') ?? [null, null];
  return token === null ? null : (token ?? '');
}

/** For handlers of operations that require a principal. */
export function accountOf(request: FastifyRequest): string {
  if (!request.principal) throw new ApiError('authentication_required');
  return request.principal.accountId;
}
