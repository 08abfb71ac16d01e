import { findRunStates } from '@eloquentpoll/storage';
import { ApiError } from '../../http/api-error.ts';
import type { PollsContext } from '../context.ts';
import type { AuthorizedRead } from './authorize-run.ts';
import { type RunView, viewOfBrief } from './run-view.ts';

/** The run that an authorized request names. Another account's run is reported as not found. */
export async function readOwnRun(
  context: PollsContext,
  { accountId, pollId, inRedis }: AuthorizedRead,
): Promise<RunView> {
  const { runs, rereads } = context;
  const ended = pollId === null ? undefined : runs.ended(pollId);
  const run = ended ?? inRedis ?? (pollId === null ? null : await runFromPostgres(context, pollId));
  if (run?.owner !== accountId) throw new ApiError('session_not_found');
  // A running poll is also reread from Postgres soon, because the announcement of its end may have been lost.
  if (run.status === 'running') rereads.schedule(run.pollId);
  else if (!ended) runs.storeEnd(run);
  return run;
}

/**
 * As above, but a run that seems to be running is read from Postgres first: an end is stored before it is announced, so
 * another gateway may already have reported it.
 */
export async function readOwnRunNow(context: PollsContext, authorized: AuthorizedRead): Promise<RunView> {
  const run = await readOwnRun(context, authorized);
  if (run.status !== 'running') return run;
  const [stored] = await findRunStates(context.storage, [run.pollId]).catch(() => []);
  if (!stored) return run;
  const now = context.runs.store(stored);
  if (now.owner !== authorized.accountId) throw new ApiError('session_not_found');
  return now;
}

export const readRun = async (context: PollsContext, pollId: string): Promise<RunView | null> =>
  (await runFromRedis(context, pollId)) ?? (await runFromPostgres(context, pollId));

/** The run as recorded in Redis; null without a record, and while Redis is away. */
export async function runFromRedis({ bus }: PollsContext, pollId: string): Promise<RunView | null> {
  const [brief] = await bus.runs.briefs([pollId]).catch(() => []);
  return brief ? viewOfBrief(pollId, brief) : null;
}

/** The run from Postgres, or from a recent read of it; null when there is no such poll. */
export async function runFromPostgres({ storage, runs }: PollsContext, pollId: string): Promise<RunView | null> {
  const known = runs.ended(pollId) ?? runs.running(pollId);
  if (known) return known;
  const [stored] = await findRunStates(storage, [pollId]);
  return stored ? runs.store(stored) : null;
}
