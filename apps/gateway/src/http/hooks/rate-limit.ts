import type { RecoveryAction } from '@eloquentpoll/contracts';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import plugin from 'fastify-plugin';
import type { Operation, Policy } from '../../config/rate-limit-policies.ts';
import { keyRecoveryActions } from '../access.ts';
import { ApiError } from '../api-error.ts';
import type { HttpContext } from '../context.ts';
import { clientNetwork } from '../rate-limits/client-network.ts';
import type { Budget } from '../rate-limits/rate-limiter.ts';

// Every route says which operation it is, and the operation's budget decides. The headers are those of
// draft-ietf-httpapi-ratelimit-headers-06, the last one that has all four names.

declare module 'fastify' {
  interface FastifyContextConfig {
    /**
     * Which budget the route draws from; a route that does not say it does not start. A function may look at the body,
     * which was parsed but not checked.
     */
    operation?: Operation | ((request: FastifyRequest) => Operation);
  }
  interface FastifyRequest {
    budget: Budget | null;
  }
}

export const rateLimit = plugin(async (app: FastifyInstance, { context }: { context: HttpContext }) => {
  const { limiter } = context;
  app.decorateRequest('budget', null);
  app.addHook('onRoute', (route) => {
    const { operation } = route.config ?? {};
    if (operation === undefined) throw new Error(`${route.method} ${route.url} does not say its operation`);
    // Counted in polls/open-session.ts, together with the reading.
    if (operation === 'session') return;
    const limit = async (request: FastifyRequest) => {
      const name = typeof operation === 'function' ? operation(request) : operation;
      // Whoever has asked all the free polls of an hour can go on with a key, without waiting.
      const withKey = name === 'free_poll' && request.principal === null;
      const waysOut = withKey ? (['re_authenticate', ...keyRecoveryActions(context)] as const) : [];
      spend(request, await limiter.take(name, principalOf(request)), waysOut);
    };
    // After authentication, which the route's own hooks begin with; a body has to be read first.
    if (typeof operation === 'function') route.preValidation = [limit, ...[route.preValidation ?? []].flat()];
    else route.onRequest = [...[route.onRequest ?? []].flat(), limit];
  });
  // What ended before its budget was known (no such route, no such key) is counted by where it came from.
  app.addHook('onSend', (request, reply, _payload, done) => {
    const known = request.budget;
    if (known) {
      tell(reply, known);
      done();
    } else {
      limiter.take('read', clientNetwork(request.ip)).then((budget) => {
        tell(reply, budget);
        done();
      }, done);
    }
  });
});

/** Who a call is counted for. */
export const principalOf = (request: FastifyRequest): string =>
  request.principal?.accountId ?? clientNetwork(request.ip);

/** Notes the budget that a request drew from, and refuses it when there is nothing left. */
export function spend(request: FastifyRequest, budget: Budget, recovery: readonly RecoveryAction[] = []): void {
  request.budget = budget;
  if (budget.allowed) return;
  throw new ApiError('rate_limited', {
    detail: `At most ${budget.window.limit} calls in ${budget.window.seconds} seconds; try again in ${budget.resetSeconds} s.`,
    retryAfterSeconds: budget.resetSeconds,
    recovery,
  });
}

/** The four headers. For answers that no hook sees, too. */
export function tell(reply: FastifyReply, { window, remaining, resetSeconds, policy }: Budget): void {
  reply.headers({
    'ratelimit-limit': String(window.limit),
    'ratelimit-remaining': String(remaining),
    'ratelimit-reset': String(resetSeconds),
    'ratelimit-policy': toldPolicy(policy),
  });
}

const told = new WeakMap<Policy, string>();

function toldPolicy(policy: Policy): string {
  let text = told.get(policy);
  if (text === undefined) {
    text = policy.windows.map(({ limit, seconds }) => `${limit};w=${seconds}`).join(', ');
    told.set(policy, text);
  }
  return text;
}
