import type { ProgressSnapshot, Vote } from '@eloquentpoll/contracts';
import {
  finalSnapshot,
  type Moment,
  type PollOutcome,
  pollResponse,
  pollState,
  runningSnapshot,
} from '@eloquentpoll/polls';
import type { Claim } from '@eloquentpoll/storage';
import { Abandoned, type Collected, collectVotes, unanswered } from './collect-votes.ts';
import type { Context } from './context.ts';
import { type Lease, OVERDUE_MS } from './leases.ts';

// One poll from claim to stored result: claim -> resume -> collect -> store -> announce. Each step may be the last that
// this process ever does. Before the store nothing counts that another worker could not do again from the run record;
// after it everything is in Postgres. The announcement may be lost: readers look there anyway.

/**
 * A poll that took down this many workers for nothing takes down no more. Each vote that has arrived allows one attempt
 * more: a poll that makes progress is a victim of its neighbours or of the machine, not the culprit. From the fourth
 * attempt on it meets fewer and fewer other suspects (see claimPoll), from the eighth on none, so that a victim has three
 * attempts beside none of those that may have been the culprit.
 */
const MAX_ATTEMPTS = 10;
/** Owner of an anonymous poll's run record: an account id that no account has. */
const NOBODY = 'nobody';

export async function runPoll(context: Context, pollId: string, signal: AbortSignal): Promise<void> {
  const { polls, workerId, clock } = context;
  const askedAt = clock.now();
  const claim = (await polls.claim(pollId, workerId)) ?? (await polls.claimOverdue(pollId, workerId, OVERDUE_MS));
  if (!claim) return;
  const claimedAt = clock.now();
  using lease = context.leases.hold(pollId, claim.epoch, askedAt);
  const alive = AbortSignal.any([signal, lease.lost]);
  try {
    const resumed = claim.epoch === 1 ? [] : await earlierVotes(context, claim);
    if (claim.claims - resumed.length > MAX_ATTEMPTS) return await giveUp(context, claim);
    // From the moment at which the claim was sent: how long its answer took, nobody knows.
    const timeLeftMs = claim.remainingMs - (clock.now() - askedAt);
    const collected = await collect(context, claim, resumed, timeLeftMs, lease, alive);
    const gatherMs = clock.now() - claimedAt;
    await store(context, claim, collected, gatherMs, alive);
  } catch (error) {
    if (!(error instanceof Abandoned)) throw error;
    if (!lease.lost.aborted) await handOver(context, claim);
  }
}

async function giveUp(context: Context, claim: Claim): Promise<void> {
  const { id: pollId, epoch, spec, claims } = claim;
  const buried = await context.polls.bury({ id: pollId, epoch, reason: 'too_many_attempts' });
  // Then whoever has the poll now tells how it ends.
  if (buried === 'fenced') return;
  context.log.error({ ...about(claim), claims }, 'poll buried');
  const state = pollState(spec);
  const end: Moment = { pollId, epoch, spec, state, received: 0, vote: null, elapsedMs: claim.ageMs };
  await announceEnd(context, claim, finalSnapshot(end, null));
}

async function collect(
  context: Context,
  claim: Claim,
  resumed: readonly Vote[],
  timeLeftMs: number,
  lease: Lease,
  alive: AbortSignal,
): Promise<Collected & Pick<PollOutcome, 'arrivals'>> {
  const { bus, clock, log } = context;
  const arrivals: PollOutcome['arrivals'] = [];
  const { id: pollId, epoch, spec } = claim;
  const claimedAt = clock.now();
  const moment = (state: Moment['state'], received: number, vote: Vote | null): Moment => ({
    pollId,
    epoch,
    spec,
    state,
    received,
    vote,
    elapsedMs: claim.ageMs + clock.now() - claimedAt,
  });
  const superseded = new AbortController();
  const recorded = (write: Promise<boolean>): void => {
    // Redis may be away: then a later worker asks these models again, and readers see progress late.
    write.then(
      (ours) => ours || superseded.abort(new Error('a newer worker has the poll')),
      (error) => log.warn({ ...about(claim), err: error }, 'progress not recorded'),
    );
  };

  const opening = pollState(spec, resumed);
  const collecting = collectVotes({
    spec,
    resumed,
    timeLeftMs,
    clock,
    hedges: context.hedges,
    signal: AbortSignal.any([alive, superseded.signal]),
    async ask(seat, timeLeftMs, signal) {
      await lease.confirmed();
      // The poll may have been taken away meanwhile, or stopped.
      if (alive.aborted || signal.aborted) return unanswered(spec, seat, 'aborted', 0);
      return context.ask({ pollId, spec, seat, timeLeftMs, signal, confirmed: () => lease.confirmed() });
    },
    onVote(vote, state, votes) {
      const snapshot = runningSnapshot(moment(state, votes.length, vote));
      arrivals.push({ at_ms: snapshot.elapsed_ms, confidence: snapshot.confidence });
      recorded(bus.runs.vote(pollId, epoch, vote, snapshot));
    },
  });
  // After the first calls were begun, and before any of them can have ended: nobody waits for a write less than a model.
  recorded(
    bus.runs.open(pollId, epoch, claim.accountId ?? NOBODY, runningSnapshot(moment(opening, resumed.length, null))),
  );
  return { ...(await collecting), arrivals: resumed.length === 0 ? arrivals : [] };
}

/** What arrived for earlier workers; from this moment on none of them can add to it. */
async function earlierVotes({ bus, log }: Context, claim: Claim): Promise<Vote[]> {
  const { id: pollId, epoch } = claim;
  try {
    const votes = await bus.runs.takeOver(pollId, epoch);
    if (votes === null) throw new Abandoned('a newer worker has the poll');
    return votes.filter((vote) => fits(claim, vote)).toSorted((a, b) => a.seat - b.seat);
  } catch (error) {
    if (error instanceof Abandoned) throw error;
    log.warn({ ...about(claim), err: error }, 'earlier votes not readable');
    return [];
  }
}

/** A vote of another panel, or for an option that the poll does not have, is none of this poll's. */
const fits = ({ spec }: Claim, { seat, model_id, option }: Vote): boolean =>
  spec.seats[seat]?.model_id === model_id && (option === null || option < spec.options.length);

async function store(
  context: Context,
  claim: Claim,
  collected: Awaited<ReturnType<typeof collect>>,
  gatherMs: number,
  alive: AbortSignal,
): Promise<void> {
  const { id: pollId, epoch, spec } = claim;
  const { state, votes, reason, arrivals } = collected;
  const totalMs = claim.ageMs + gatherMs;
  const times = { gatherMs, totalMs, arrivals };
  const response = pollResponse({ resultId: claim.resultId, spec, state, reason, votes, ...times });
  const stored = await untilStored(context, claim, alive, () =>
    context.polls.finish({ id: pollId, epoch, votes, response }),
  );
  if (stored === 'fenced') {
    context.log.warn({ ...about(claim), epoch }, 'result refused: another worker has the poll');
    return;
  }
  const end: Moment = { pollId, epoch, spec, state, received: votes.length, vote: null, elapsedMs: totalMs };
  await announceEnd(context, claim, finalSnapshot(end, response));
  const { status } = response;
  context.log.info({ ...about(claim), status, reason, votes: votes.length, totalMs }, 'poll ended');
}

/** May be lost: whoever waits looks into Postgres every now and then. */
async function announceEnd({ bus, log }: Context, claim: Claim, snapshot: ProgressSnapshot): Promise<void> {
  const { id: pollId, epoch, accountId } = claim;
  await bus.runs.end(pollId, epoch, accountId ?? NOBODY, snapshot).catch((error) => {
    log.warn({ ...about(claim), err: error }, 'end not announced');
  });
}

const STORE_RETRY_MS = [100, 300, 1_000, 2_000, 4_000, 8_000];

/** Storing the same poll twice stores it once, so a write whose answer was lost is simply tried again. */
async function untilStored<T>(
  { clock, log }: Context,
  claim: Claim,
  alive: AbortSignal,
  write: () => Promise<T>,
): Promise<T> {
  for (const pauseMs of STORE_RETRY_MS) {
    try {
      return await write();
    } catch (error) {
      if (alive.aborted) throw new Abandoned('the poll was taken away before it was stored');
      log.warn({ ...about(claim), err: error }, 'result not stored yet');
      await new Promise<void>((resolve) => clock.after(pauseMs, resolve));
    }
  }
  return write();
}

/** A worker that is told to stop gives its polls back, so that the next one need not wait for a lease to run out. */
async function handOver({ polls, bus, log }: Context, claim: Claim): Promise<void> {
  const { id: pollId, epoch } = claim;
  try {
    if (await polls.release({ id: pollId, epoch })) await bus.enqueuePoll(pollId, epoch);
  } catch (error) {
    log.warn({ ...about(claim), err: error }, 'lease not handed over');
  }
}

/** What every line says: the poll, and the request that made it, which the gateway's lines name too. */
const about = ({ id, requestId }: Claim) => ({ pollId: id, request_id: requestId });
