import type { Vote } from '@eloquentpoll/contracts';
import { finalSnapshot, laneOf, type Moment, pollState } from '@eloquentpoll/polls';
import { type Claim, DEATHS_BEFORE_SUSPECT } from '@eloquentpoll/storage';
import type { TrackRecord } from '@eloquentpoll/voting';
import { askPanel } from './ask-panel.ts';
import type { ClaimedPoll } from './claim-poll.ts';
import { Abandoned } from './collect-votes.ts';
import type { Context } from './context.ts';
import { announceEnd, storeResult } from './end-poll.ts';
import { linkedAbort } from './linked-abort.ts';
import { recordProgress } from './record-progress.ts';
import { type LeasedPoll, logFields, untilDeadlineMs } from './run.ts';

// One poll from claim to stored result. The process may die at any step. Before the result is stored, another worker
// can repeat everything from the run record. Afterwards, everything is in Postgres.

/**
 * A poll that has lost this many workers without progress is given up. Each recorded vote allows one more claim,
 * because a poll that makes progress is probably not the cause. From the fourth claim on, a worker runs it with fewer
 * and fewer other suspects (see `claimPoll`), from the eighth on alone. So a poll that was not the cause gets three
 * claims apart from the one that was.
 */
const MAX_CLAIMS = 10;

/**
 * How long a resumed poll waits for the votes that earlier workers recorded, at most a quarter of its remaining time.
 * Each vote that is not found costs a second call. A worker that has just resumed from a pause has no connection to
 * Redis at first.
 */
const EARLIER_WITHIN_MS = 3_000;
const RETRY_MS = 100;

/** A worker runs only a few suspects at once, so when one ends, another may be able to start. */
export const isSuspect = ({ claims }: Pick<Claim, 'claims'>): boolean => claims > DEATHS_BEFORE_SUSPECT;

export async function runPoll(context: Context, claimed: ClaimedPoll, signal: AbortSignal): Promise<void> {
  const { claim, sentAt, claimedAt } = claimed;
  using lease = context.leases.hold(claim.id, claim.epoch, sentAt);
  using ending = linkedAbort(signal, lease.lost);
  try {
    const record = await recordOf(context, claim);
    const run: LeasedPoll = { claim, record, claimedAt, lease, alive: ending.signal, abandon: ending.abort };
    const earlier = claim.epoch === 1 ? [] : await earlierVotes(context, claim, ending.signal);
    if (claim.claims - earlier.length > MAX_CLAIMS) return await giveUp(context, claim);
    // Counted from when the claim was sent, because it is unknown how long its answer took.
    const timeLeftMs = claim.remainingMs - (context.clock.now() - sentAt);
    // Kept open until the result is stored: before that, the next worker needs every vote.
    using progress = recordProgress(context, run);
    const collected = await askPanel(context, run, progress, earlier, timeLeftMs);
    await storeResult(context, run, collected);
  } catch (error) {
    if (!(error instanceof Abandoned)) throw error;
    if (!lease.lost.aborted) await handOver(context, claim);
  }
}

/** A poll whose track record cannot be read stops early only by a lock; see `pollState`. */
async function recordOf({ polls, log }: Context, claim: Claim): Promise<TrackRecord | null> {
  const version = claim.spec.track_record?.roster_version;
  if (version === undefined) return null;
  const record = await polls.trackRecord(version);
  if (record === null) log.warn({ ...logFields(claim), roster_version: version }, 'poll.track_record_missing');
  return record;
}

/** Returns the votes that earlier workers recorded, and stops those workers from adding more. */
async function earlierVotes({ bus, clock, log }: Context, claim: Claim, alive: AbortSignal): Promise<Vote[]> {
  const { id: pollId, epoch, remainingMs } = claim;
  const until = clock.now() + Math.min(EARLIER_WITHIN_MS, remainingMs / 4);
  for (;;) {
    try {
      const votes = await bus.runs.takeOver(pollId, epoch, untilDeadlineMs(claim));
      if (votes === null) throw new Abandoned('a newer worker has the poll');
      return votes.filter((vote) => fits(claim, vote)).toSorted((a, b) => a.seat - b.seat);
    } catch (error) {
      if (error instanceof Abandoned) throw error;
      if (clock.now() + RETRY_MS > until) {
        log.warn({ ...logFields(claim), err: error }, 'poll.earlier_votes_lost');
        return [];
      }
    }
    await new Promise<void>((resolve) => clock.after(RETRY_MS, resolve));
    if (alive.aborted) throw new Abandoned('the lease is lost, or the worker has to stop');
  }
}

/** False if the vote's model is not in that seat, or the poll does not have its option. */
const fits = ({ spec }: Claim, { seat, model_id, option }: Vote): boolean =>
  spec.seats[seat]?.model_id === model_id && (option === null || option < spec.options.length);

async function giveUp(context: Context, claim: Claim): Promise<void> {
  const { id: pollId, epoch, spec, claims } = claim;
  const buried = await context.polls.bury({ id: pollId, epoch, reason: 'too_many_attempts' });
  // Fenced: the current holder of the lease announces the end.
  if (buried === 'fenced') return;
  context.log.error({ ...logFields(claim), claims }, 'poll.buried');
  const end: Moment = { pollId, epoch, spec, state: pollState(spec), received: 0, vote: null, elapsedMs: claim.ageMs };
  await announceEnd(context, claim, finalSnapshot(end, null));
}

/** A worker that has to stop releases its polls, so that the next one does not wait for the lease to lapse. */
async function handOver({ polls, bus, log }: Context, claim: Claim): Promise<void> {
  const { id: pollId, epoch, tenant, spec } = claim;
  try {
    if (await polls.release({ id: pollId, epoch }))
      await bus.enqueuePoll(pollId, { lane: laneOf(spec), round: epoch, tenant: tenant ?? undefined });
  } catch (error) {
    log.warn({ ...logFields(claim), err: error }, 'poll.hand_over_failed');
  }
}
