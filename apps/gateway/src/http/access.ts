import { ERRORS, type RecoveryAction } from '@eloquentpoll/contracts';
import type { FastifyRequest } from 'fastify';
import type { BudgetName } from '../config/rate-limit-policies.ts';
import { ApiError } from './api-error.ts';
import type { HttpContext } from './context.ts';

/** What an access token of the identity provider can be granted. Keys and logins may do everything. */
export const SCOPES = ['polls:run', 'results:read', 'account'] as const;
export type Scope = (typeof SCOPES)[number];

/** On whose behalf a request acts, and how it proved that. */
export interface Principal {
  accountId: string;
  via: 'api_key' | 'access_token' | 'login' | 'user_id';
  /** What an access token was granted; absent where everything is allowed. */
  scopes?: readonly Scope[];
  /** The id of the API key that was presented. */
  keyId?: string;
  /** Of a key that may only read. */
  isReadOnly?: boolean;
  /** Of a key that has a limit, expires or may only read. */
  isRestricted?: boolean;
  /** The login behind the cookie. */
  loginId?: string;
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Whether the deprecated bearer, a user id, is accepted. */
    takesUserId?: boolean;
    /** An operation with an unsafe method that a read-only key may call: it changes nothing, or says itself what does. */
    readsOnly?: boolean;
    /** A safe operation that answers anyone: it opens no account, and a caller whose account is not in this cell is a stranger. */
    isPublic?: boolean;
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
  const [, token] = /^bearer(?: +([^ ].*)?)?$/i.exec(header ?? '') ?? [null, null];
  return token === null ? null : (token ?? '');
}

/** For handlers of operations that require a principal. */
export function accountOf(request: FastifyRequest): string {
  if (!request.principal) throw new ApiError('authentication_required');
  return request.principal.accountId;
}

/** Refuses a read-only key. */
export function requireWriting(principal: Principal | null): void {
  if (principal?.isReadOnly) throw new ApiError('read_only_key', { detail: ERRORS.read_only_key.description });
}

/** Refuses a key that could give itself more than its owner gave it. */
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

/** Refuses an access token that was not granted what the operation needs. */
export function requireScope(principal: Principal | null, operation: BudgetName): void {
  const scope = SCOPE_OF[operation];
  if (!scope || !principal?.scopes || principal.scopes.includes(scope)) return;
  throw new ApiError('insufficient_scope', {
    detail: `This operation needs the scope ${scope}.`,
    headers: { 'www-authenticate': `Bearer error="insufficient_scope", scope="${scope}"` },
  });
}
