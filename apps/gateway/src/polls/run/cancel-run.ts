import { finalSnapshot, pollState } from '@eloquentpoll/polls';
import { type Cancellation, cancelPoll, findPoll } from '@eloquentpoll/storage';
import type { PollsContext } from '../context.ts';
import { readRun } from '../read/read-run.ts';
import { type RunView, viewOfStored } from '../read/run-view.ts';
import { waitForChange } from './wait-for-change.ts';

// Postgres ends the poll whatever happens here: a worker that misses the message learns of it when it renews its lease.

/** How long the caller waits for the worker that runs the poll. */
const MAX_WAIT_MS = 5_000;

/** The ended run, or the run as it is if its worker takes longer; null when the account has no such poll. */
export async function cancelRun(
  context: PollsContext,
  accountId: string,
  pollId: string,
  stop: AbortSignal,
): Promise<RunView | null> {
  const canceled = await requestCancel(context, accountId, pollId);
  if (canceled !== 'ending') return canceled;
  const run = await readRun(context, pollId);
  return run && waitForChange(context, run, ({ status }) => status !== 'running', MAX_WAIT_MS, stop);
}

/** As above without waiting: the ended run, `ending` while a worker has to end it; null when there is no such poll. */
export async function requestCancel(
  context: PollsContext,
  accountId: string,
  pollId: string,
): Promise<RunView | 'ending' | null> {
  const canceled = await cancelPoll(context.storage, accountId, pollId);
  if (!canceled) return null;
  if (canceled.outcome === 'ended_now') return announceEnd(context, accountId, pollId);
  if (canceled.outcome === 'ending') await hasten(context, pollId, canceled);
  return 'ending';
}

async function announceEnd(context: PollsContext, accountId: string, pollId: string): Promise<RunView> {
  const run = viewOfStored({ pollId, accountId, status: 'failed', resultId: null });
  context.runs.storeEnd(run);
  try {
    const { spec, createdAt } = (await findPoll(context.storage, pollId))!;
    const elapsedMs = Math.max(0, Date.now() - createdAt.getTime());
    // Epoch 1, as if a worker had claimed it, because no earlier snapshot can exist.
    const end = { pollId, epoch: 1, spec, state: pollState(spec), received: 0, vote: null, elapsedMs };
    await context.bus.runs.end(pollId, 0, accountId, finalSnapshot(end, null));
  } catch (error) {
    // Followers also read Postgres every 2 s.
    context.log.warn({ poll_id: pollId, err: error }, 'poll.end_not_announced');
  }
  return run;
}

async function hasten(
  { bus, log }: PollsContext,
  pollId: string,
  { epoch, isHeld }: Extract<Cancellation, { outcome: 'ending' }>,
): Promise<void> {
  try {
    if (isHeld) await bus.announceCancel(pollId);
    else await bus.enqueuePoll(pollId, { round: epoch });
  } catch (error) {
    log.warn({ poll_id: pollId, err: error }, 'poll.cancel_not_announced');
  }
}
