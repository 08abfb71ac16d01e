import { ERRORS, type RecoveryAction } from '@eloquentpoll/contracts';
import type { FastifyRequest } from 'fastify';
import type { BudgetName } from '../config/rate-limit-policies.ts';
import { ApiError } from './api-error.ts';
import type { HttpContext } from './context.ts';

/** Scopes that the identity provider can grant to an access token. Keys and logins have no scopes. */
export const SCOPES = ['polls:run', 'results:read', 'account'] as const;
export type Scope = (typeof SCOPES)[number];

/** The account that a request acts for, and how the request proved it. */
export interface Principal {
  accountId: string;
  via: 'api_key' | 'access_token' | 'login' | 'user_id';
  /** Scopes granted to an access token; absent when everything is allowed. */
  scopes?: readonly Scope[];
  /** The id of the API key that was presented. */
  keyId?: string;
  /** Set for read-only keys. */
  isReadOnly?: boolean;
  /** Set for keys that have a limit, expire or are read-only. */
  isRestricted?: boolean;
  /** The login behind the cookie. */
  loginId?: string;
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Whether the deprecated bearer, a user id, is accepted. */
    takesUserId?: boolean;
    /** Allows read-only keys although the method is unsafe: the operation changes nothing, or checks the key itself. */
    readsOnly?: boolean;
    /** A safe operation for anyone. It opens no account; callers of another cell count as anonymous. */
    isPublic?: boolean;
  }
  interface FastifyRequest {
    /** Null on operations that take no credentials, and for anonymous callers where these are allowed. */
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

/** Ways for a program to get a key without a human. */
export const keyRecoveryActions = ({ takesDeposits }: Pick<HttpContext, 'takesDeposits'>): RecoveryAction[] =>
  takesDeposits ? ['open_account'] : [];

/** The bearer token; any other scheme counts as no credentials. */
export function bearerOf(header: string | undefined): string | null {
  const [, token] = /^bearer(?: +([^ ].*)?)?$/i.exec(header ?? '') ?? [null, null];
  return token === null ? null : (token ?? '');
}

/** For operations that require a principal. */
export function accountOf(request: FastifyRequest): string {
  if (!request.principal) throw new ApiError('authentication_required');
  return request.principal.accountId;
}

/** Refuses a read-only key. */
export function requireWriting(principal: Principal | null): void {
  if (principal?.isReadOnly) throw new ApiError('read_only_key', { detail: ERRORS.read_only_key.description });
}

/** Refuses a restricted key, which could otherwise give itself more than its owner allowed. */
export function requireUnrestricted(principal: Principal | null): void {
  if (principal?.isRestricted) throw new ApiError('restricted_key', { detail: ERRORS.restricted_key.description });
}

/** Methods that change nothing. */
export const SAFE_METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS']);

const SCOPE_OF: Partial<Record<BudgetName, Scope>> = {
  poll: 'polls:run',
  free_poll: 'polls:run',
  batch: 'polls:run',
  compute: 'polls:run',
  session: 'results:read',
  account: 'account',
  key_issue: 'account',
  webhook_test: 'account',
  checkout: 'account',
};

/**
 * Refuses an access token without the scope that the operation needs. The challenge also names the scopes that it has:
 * some clients ask for a new token with exactly what it names, and would lose them.
 */
export function requireScope(principal: Principal | null, operation: BudgetName): void {
  const scope = SCOPE_OF[operation];
  const has = principal?.scopes;
  if (!scope || !has || has.includes(scope)) return;
  const wanted = SCOPES.filter((name) => name === scope || has.includes(name)).join(' ');
  throw new ApiError('insufficient_scope', {
    detail: `This operation needs the scope ${scope}.`,
    headers: { 'www-authenticate': `Bearer error="insufficient_scope", scope="${wanted}"` },
  });
}
