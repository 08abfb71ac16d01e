import type { RecoveryAction } from '@eloquentpoll/contracts';
import { balanceOf, type Storage } from '@eloquentpoll/storage';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import plugin from 'fastify-plugin';
import type { BudgetName, Policy } from '../../config/rate-limit-policies.ts';
import { keyRecoveryActions, type Principal, requireScope } from '../access.ts';
import { ApiError } from '../api-error.ts';
import type { HttpContext } from '../context.ts';
import { clientNetwork } from '../rate-limits/client-network.ts';
import type { BudgetState } from '../rate-limits/rate-limiter.ts';

// Every route names its operation, whose budget applies. The headers follow draft-ietf-httpapi-ratelimit-headers-06,
// the last draft with all four names.

declare module 'fastify' {
  interface FastifyContextConfig {
    /**
     * The budget that the route draws from; without one the process does not start. A function may read the parsed,
     * unvalidated body. It gets `known` when the caller has an account but `request.principal` is not set yet.
     */
    operation?: BudgetName | ((request: FastifyRequest, caller?: 'known') => BudgetName);
    /** The function reads no body, so the call can be counted before the body arrives. */
    budgetOfHeaders?: boolean;
  }
  interface FastifyRequest {
    budget: BudgetState | null;
    countedAhead: CountedAhead | null;
  }
}

/** A call that was counted while its key was still being looked up. */
interface CountedAhead {
  name: BudgetName;
  drawer: string;
  budget: Promise<BudgetState>;
}

type Caller = Pick<Principal, 'accountId' | 'keyId' | 'loginId' | 'isReadOnly' | 'isRestricted'> &
  Partial<Pick<Principal, 'via'>>;

/**
 * Whose budget is used, normally the account's. For `account`, each key and login has its own, so that no key can use
 * up the calls that the owner needs to revoke it. A key must not use up its owner's budget by calls that are refused: a
 * read-only key has its own budgets, a restricted key its own `key_issue`. User ids are public: they count by network.
 */
function drawerOf(name: BudgetName, { ip }: FastifyRequest, caller: Caller | null): string {
  if (caller === null || caller.via === 'user_id') return clientNetwork(ip);
  const { accountId, keyId, loginId, isReadOnly, isRestricted } = caller;
  const isOwn = name === 'account' || isReadOnly || (isRestricted && name === 'key_issue');
  return isOwn ? (keyId ?? loginId ?? accountId) : accountId;
}

/** Saves a round trip to Redis when the owner is nearly certain. A key that then proves invalid costs a call. */
export function countAhead({ limiter }: Pick<HttpContext, 'limiter'>, request: FastifyRequest, owner: Caller): void {
  const { operation } = request.routeOptions.config;
  if (operation === undefined) return;
  const name = typeof operation === 'function' ? operation(request, 'known') : operation;
  const drawer = drawerOf(name, request, owner);
  request.countedAhead = { name, drawer, budget: limiter.take(name, drawer) };
}

export const rateLimit = plugin(async (app: FastifyInstance, { context }: { context: HttpContext }) => {
  const { limiter } = context;
  app.decorateRequest('budget', null);
  app.decorateRequest('countedAhead', null);
  app.addHook('onRoute', (route) => {
    const { operation } = route.config ?? {};
    if (operation === undefined) throw new Error(`${route.method} ${route.url} does not say its operation`);
    // Counted in polls/read/authorize-run.ts, together with the read.
    if (operation === 'session') return;
    const limit = async (request: FastifyRequest) => {
      const ahead = aheadFor(request);
      const name = ahead?.name ?? (typeof operation === 'function' ? operation(request) : operation);
      // A caller who has used up the hour's free polls can continue with a key at once.
      const isAnonymous = name === 'free_poll' && request.principal === null;
      const recovery = isAnonymous ? (['re_authenticate', ...keyRecoveryActions(context)] as const) : [];
      requireScope(request.principal, name);
      spend(request, await budgetOf(context, request, name), recovery);
    };
    // Runs after the route's own hooks, which authenticate first; a function needs the body to be read as well.
    if (typeof operation === 'function') route.preValidation = [...[route.preValidation ?? []].flat(), limit];
    else route.onRequest = [...[route.onRequest ?? []].flat(), limit];
  });
  // A request that failed before its budget was known (no route, wrong key) counts for its network.
  app.addHook('onSend', (request, reply, _payload, done) => {
    const spent = request.budget;
    if (spent) {
      setBudgetHeaders(reply, spent);
      done();
    } else {
      limiter.take('read', clientNetwork(request.ip)).then((budget) => {
        setBudgetHeaders(reply, budget);
        done();
      }, done);
    }
  });
});

/** Counts one of several calls in a request, and refuses it like a request of its own. */
export async function countCall(context: HttpContext, request: FastifyRequest, name: BudgetName): Promise<void> {
  requireScope(request.principal, name);
  spend(request, await budgetOf(context, request, name));
}

function aheadFor(request: FastifyRequest): CountedAhead | null {
  const { countedAhead, principal } = request;
  if (!countedAhead || !principal) return null;
  return countedAhead.drawer === drawerOf(countedAhead.name, request, principal) ? countedAhead : null;
}

/** Opening an account is free, so budgets that an account can use without money also draw from its network's budget. */
async function budgetOf(
  { limiter, storage }: HttpContext,
  request: FastifyRequest,
  name: BudgetName,
): Promise<BudgetState> {
  const { principal } = request;
  const drawer = drawerOf(name, request, principal);
  const own = await (aheadFor(request)?.budget ?? limiter.take(name, drawer));
  if (principal === null || !own.allowed) return own;
  const networkBudget = name === 'checkout' ? 'checkout_network' : name === 'free_poll' ? name : null;
  if (networkBudget === null) return own;
  if (name === 'free_poll' && (await hasPaid(storage, principal.accountId))) return own;
  const ofNetwork = await limiter.take(networkBudget, clientNetwork(request.ip));
  return ofNetwork.remaining < own.remaining || !ofNetwork.allowed ? ofNetwork : own;
}

async function hasPaid(storage: Storage, accountId: string): Promise<boolean> {
  const balance = await balanceOf(storage, accountId);
  return balance !== null && (balance.postedU > 0n || balance.usageU > 0n);
}

/** The caller's account, or the network of an anonymous caller. */
export const principalOf = (request: FastifyRequest): string =>
  request.principal?.accountId ?? clientNetwork(request.ip);

/** Records the budget that a request drew from, and refuses the request when it is used up. */
export function spend(request: FastifyRequest, budget: BudgetState, recovery: readonly RecoveryAction[] = []): void {
  request.budget = budget;
  if (budget.allowed) return;
  const { window, resetSeconds } = budget;
  const reason = budget.isClosed
    ? 'Free polls cannot be counted at the moment, so none is taken'
    : `At most ${window.limit} calls in ${window.seconds} seconds`;
  throw new ApiError('rate_limited', {
    detail: `${reason}; try again in ${resetSeconds} s.`,
    retryAfterSeconds: resetSeconds,
    recovery,
  });
}

/** Sets the four headers; called directly for event streams, which bypass hooks. */
export function setBudgetHeaders(reply: FastifyReply, { window, remaining, resetSeconds, policy }: BudgetState): void {
  reply.headers({
    'ratelimit-limit': String(window.limit),
    'ratelimit-remaining': String(remaining),
    'ratelimit-reset': String(resetSeconds),
    'ratelimit-policy': policyHeader(policy),
  });
}

const policyHeaders = new WeakMap<Policy, string>();

function policyHeader(policy: Policy): string {
  let text = policyHeaders.get(policy);
  if (text === undefined) {
    text = policy.windows.map(({ limit, seconds }) => `${limit};w=${seconds}`).join(', ');
    policyHeaders.set(policy, text);
  }
  return text;
}
