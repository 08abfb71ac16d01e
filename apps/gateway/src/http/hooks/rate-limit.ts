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

// Every route names its operation, whose budget applies. The headers are those of
// draft-ietf-httpapi-ratelimit-headers-06, the last draft with all four names.

declare module 'fastify' {
  interface FastifyContextConfig {
    /**
     * The budget that the route draws from; a route without one does not start. A function may read the body, which is
     * parsed and not validated; a caller is `known` where only the principal's name is missing.
     */
    operation?: BudgetName | ((request: FastifyRequest, caller?: 'known') => BudgetName);
    /** A function that reads no body, so that the call can be counted before there is one. */
    budgetOfHeaders?: boolean;
  }
  interface FastifyRequest {
    budget: BudgetState | null;
    countedAhead: CountedAhead | null;
  }
}

/** A call that was counted while its key was looked up. */
interface CountedAhead {
  name: BudgetName;
  drawer: string;
  budget: Promise<BudgetState>;
}

type Caller = Pick<Principal, 'accountId' | 'keyId' | 'loginId' | 'isReadOnly' | 'isRestricted'> &
  Partial<Pick<Principal, 'via'>>;

/**
 * Whose budget it is. Keys and logins have one of `account` each, so that no key uses up what its owner revokes it with. Nor
 * does one use up its owner's by calls that it is refused: one that only reads has all budgets for itself, and a restricted
 * one, which makes no keys, has that of `key_issue`. User ids are no secret, so their calls count for who sends them.
 */
function drawerOf(name: BudgetName, { ip }: FastifyRequest, caller: Caller | null): string {
  if (caller === null || caller.via === 'user_id') return clientNetwork(ip);
  const { accountId, keyId, loginId, isReadOnly, isRestricted } = caller;
  const isOwn = name === 'account' || isReadOnly || (isRestricted && name === 'key_issue');
  return isOwn ? (keyId ?? loginId ?? accountId) : accountId;
}

/** Saves a trip to Redis where the owner is nearly certain. A key that opens nothing after all has cost its account a call. */
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
      // A caller whose free polls of the hour are used up can continue with a key, without waiting.
      const isAnonymous = name === 'free_poll' && request.principal === null;
      const recovery = isAnonymous ? (['re_authenticate', ...keyRecoveryActions(context)] as const) : [];
      requireScope(request.principal, name);
      spend(request, await budgetOf(context, request, name), recovery);
    };
    // After authentication, which the route's own hooks begin with; a body has to be read first.
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

function aheadFor(request: FastifyRequest): CountedAhead | null {
  const { countedAhead, principal } = request;
  if (!countedAhead || !principal) return null;
  return countedAhead.drawer === drawerOf(countedAhead.name, request, principal) ? countedAhead : null;
}

/** Accounts cost nothing to open, so what one may try without money also draws from the budget of its network. */
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

/** The account or network that a caller belongs to. */
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

/** The four headers; also for event streams, which no hook sees. */
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
