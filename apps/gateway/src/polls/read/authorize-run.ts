import { isPollId } from '@eloquentpoll/polls';
import type { FastifyRequest } from 'fastify';
import { requireOpen } from '../../accounts/frozen.ts';
import { ofKey, ownerOfKey, principalOfBearer } from '../../accounts/principal.ts';
import { bearerOf, requireScope } from '../../http/access.ts';
import { ApiError } from '../../http/api-error.ts';
import { spend } from '../../http/hooks/rate-limit.ts';
import { clientNetwork } from '../../http/rate-limits/client-network.ts';
import type { PollsContext } from '../context.ts';
import { runFromRedis } from './read-run.ts';
import { type RunView, viewOfBrief } from './run-view.ts';

// Operations with the budget `session` authenticate and count here, not in hooks: with the read of the run this is one
// round trip to Redis. What Redis lacks is read from Postgres.

export interface AuthorizedRead {
  accountId: string;
  /** Null for an id that no poll can have. */
  pollId: string | null;
  /** The run as Redis has it, read in the same round trip. */
  inRedis: RunView | null;
}

/** Refuses an unknown caller before an unknown run. Calls count per key: the account is not known in time. */
export async function authorizeRun(
  context: PollsContext,
  request: FastifyRequest,
  id: string,
): Promise<AuthorizedRead> {
  const { limiter, runs, runBatch, hashedKey } = context;
  const bearer = bearerOf(request.headers.authorization);
  if (bearer === null) throw new ApiError('authentication_required');
  const pollId = isPollId(id) ? id : null;
  const key = hashedKey(bearer);
  if (!key) return authorizeToken(context, request, bearer, pollId);

  const hasEnded = pollId !== null && runs.ended(pollId) !== undefined;
  const { owner, budget, brief } = await runBatch.read(key, hasEnded ? null : pollId);
  const caller = owner ? requireOpen(owner) : await ownerOfKey(context, key.hash, clientNetwork(request.ip));
  if (!caller) throw new ApiError('invalid_api_key');
  request.principal = ofKey(caller);
  spend(request, budget ?? limiter.withoutRedis('session', key.name));
  return { accountId: caller.accountId, pollId, inRedis: brief && viewOfBrief(id, brief) };
}

/** An access token is verified by its signature, so there is no key to look up in the batch. */
async function authorizeToken(
  context: PollsContext,
  request: FastifyRequest,
  bearer: string,
  pollId: string | null,
): Promise<AuthorizedRead> {
  const principal = await principalOfBearer(context, bearer, clientNetwork(request.ip));
  if (!principal) throw new ApiError('invalid_api_key');
  request.principal = principal;
  requireScope(principal, 'session');
  spend(request, await context.limiter.take('session', principal.accountId));
  const inRedis = pollId === null ? null : await runFromRedis(context, pollId);
  return { accountId: principal.accountId, pollId, inRedis };
}
