import { findSessions } from '@eloquentpoll/storage';
import type { FastifyRequest } from 'fastify';
import { looksLikeApiKey } from '../accounts/api-key.ts';
import { principalOfBearer } from '../accounts/principal.ts';
import { ApiError } from '../api-error.ts';
import type { Context } from '../context.ts';
import { bearerOf } from '../plugins/auth.ts';
import { spend } from '../plugins/rate-limit.ts';
import { isPollId } from './poll-ids.ts';
import { principalOfHash } from './session-batch.ts';
import { type SessionView, viewOfBrief } from './session-view.ts';

// Who asks, whether they may, and how their session stands: everything that reading a session needs, for operations
// whose budget is `session` and which therefore authenticate and count here and not in the plugins. In the usual case
// that is one round trip to Redis; each part that is missing there comes from Postgres by itself. Calls are counted by
// key, not by account: the account is known only once the answer is back.

/** Refuses an unknown caller before an unknown session; one that is somebody else's is not there at all. */
export async function openSession(context: Context, request: FastifyRequest, id: string): Promise<SessionView> {
  const pollId = isPollId(id) ? id : null;
  const known = pollId === null ? undefined : context.sessions.ended(pollId);
  const { accountId, recorded } = await admit(context, request, known ? null : pollId);
  const view = known ?? recorded ?? (pollId && (await stored(context, pollId)));
  if (!view || view.owner !== accountId) throw new ApiError('session_not_found');
  if (view.status === 'running') context.sessions.asked(view.pollId);
  else if (!known) context.sessions.keep(view);
  return view;
}

interface Admitted {
  accountId: string;
  recorded: SessionView | null;
}

async function admit(context: Context, request: FastifyRequest, pollId: string | null): Promise<Admitted> {
  const bearer = bearerOf(request.headers.authorization);
  if (bearer === null) throw new ApiError('authentication_required');
  return looksLikeApiKey(bearer)
    ? admitKey(context, request, bearer, pollId)
    : admitOther(context, request, bearer, pollId);
}

async function admitKey(
  context: Context,
  request: FastifyRequest,
  key: string,
  pollId: string | null,
): Promise<Admitted> {
  const { keys, limiter } = context;
  const { hash, owner, budget, brief } = await context.sessionBatch.read(key, pollId);
  const found = owner ?? (await keys.find(hash));
  if (!found) throw new ApiError('invalid_api_key');
  request.principal = { ...found, via: 'api_key' };
  spend(request, budget ?? limiter.withoutRedis('session', principalOfHash(hash)));
  return { accountId: found.accountId, recorded: brief && viewOfBrief(pollId ?? '', brief) };
}

/** An access token of the identity provider. It is checked by its signature, so nothing is saved by a batch. */
async function admitOther(
  context: Context,
  request: FastifyRequest,
  bearer: string,
  pollId: string | null,
): Promise<Admitted> {
  const principal = await principalOfBearer(context, bearer);
  if (!principal) throw new ApiError('invalid_api_key');
  request.principal = principal;
  spend(request, await context.limiter.take('session', principal.accountId));
  return { accountId: principal.accountId, recorded: pollId === null ? null : await recordOf(context, pollId) };
}

/** What the run record says, or null. */
export async function recordOf({ bus }: Context, pollId: string): Promise<SessionView | null> {
  const into = bus.redis.pipeline();
  bus.runs.batch(into, pollId);
  const replies = await into.exec().catch(() => null);
  const brief = bus.runs.parse(replies?.[0]?.[1]);
  return brief && viewOfBrief(pollId, brief);
}

/** What Postgres says, or said a moment ago; null when there is no such poll. */
export async function stored({ storage, sessions }: Context, pollId: string): Promise<SessionView | null> {
  const known = sessions.ended(pollId) ?? sessions.running(pollId);
  if (known) return known;
  const [session] = await findSessions(storage, [pollId]);
  return session ? sessions.remember(session) : null;
}
