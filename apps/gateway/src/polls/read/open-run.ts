import { findSessions } from '@eloquentpoll/storage';
import type { FastifyRequest } from 'fastify';
import { principalOfBearer } from '../../accounts/principal.ts';
import { bearerOf } from '../../http/access.ts';
import { ApiError } from '../../http/api-error.ts';
import { spend } from '../../http/hooks/rate-limit.ts';
import type { PollsContext } from '../context.ts';
import { isPollId } from '../order/poll-ids.ts';
import { type SessionView, viewOfBrief } from './run-view.ts';

// Who asks, whether they may, and how their session stands: everything that reading a session needs, for operations
// whose budget is `session` and which therefore authenticate and count here and not in the plugins. In the usual case
// that is one round trip to Redis; each part that is missing there comes from Postgres by itself. Calls are counted by
// key, not by account: the account is known only once the answer is back.

/** Refuses an unknown caller before an unknown session; one that is somebody else's is not there at all. */
export async function openSession(context: PollsContext, request: FastifyRequest, id: string): Promise<SessionView> {
  const { keys, limiter, sessions, sessionBatch, hashedKey } = context;
  const bearer = bearerOf(request.headers.authorization);
  if (bearer === null) throw new ApiError('authentication_required');
  const key = hashedKey(bearer);
  if (!key) return openWithToken(context, request, bearer, id);

  const pollId = isPollId(id) ? id : null;
  const ended = pollId === null ? undefined : sessions.ended(pollId);
  const { owner, budget, brief } = await sessionBatch.read(key, ended ? null : pollId);
  const caller = owner ?? (await keys.find(key.hash));
  if (!caller) throw new ApiError('invalid_api_key');
  request.principal = { accountId: caller.accountId, keyId: caller.keyId, via: 'api_key' };
  spend(request, budget ?? limiter.withoutRedis('session', key.name));
  if (ended) return ownView(ended, caller.accountId);
  const recorded = brief && viewOfBrief(id, brief);
  return noted(context, ownView(recorded ?? (pollId && (await stored(context, pollId))), caller.accountId));
}

/** With an access token of the identity provider: it is judged by its signature, so a batch would save nothing. */
async function openWithToken(
  context: PollsContext,
  request: FastifyRequest,
  bearer: string,
  id: string,
): Promise<SessionView> {
  const principal = await principalOfBearer(context, bearer);
  if (!principal) throw new ApiError('invalid_api_key');
  request.principal = principal;
  spend(request, await context.limiter.take('session', principal.accountId));
  const pollId = isPollId(id) ? id : null;
  const view = pollId && ((await recordOf(context, pollId)) ?? (await stored(context, pollId)));
  return noted(context, ownView(view, principal.accountId));
}

function ownView(view: SessionView | '' | null, accountId: string): SessionView {
  if (!view || view.owner !== accountId) throw new ApiError('session_not_found');
  return view;
}

/** Of what seems to run the end is looked for; what has ended is kept. */
function noted({ sessions }: PollsContext, view: SessionView): SessionView {
  if (view.status === 'running') sessions.asked(view.pollId);
  else sessions.keep(view);
  return view;
}

/** What the run record says, or null. */
export async function recordOf({ bus }: PollsContext, pollId: string): Promise<SessionView | null> {
  const into = bus.redis.pipeline();
  bus.runs.batch(into, [pollId]);
  const replies = await into.exec().catch(() => null);
  const brief = bus.runs.parse(replies?.[0]?.[1]);
  return brief && viewOfBrief(pollId, brief);
}

/** What Postgres says, or said a moment ago; null when there is no such poll. */
export async function stored({ storage, sessions }: PollsContext, pollId: string): Promise<SessionView | null> {
  const known = sessions.ended(pollId) ?? sessions.running(pollId);
  if (known) return known;
  const [session] = await findSessions(storage, [pollId]);
  return session ? sessions.remember(session) : null;
}
