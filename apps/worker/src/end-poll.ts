import type { ProgressSnapshot } from '@eloquentpoll/contracts';
import {
  atNoCost,
  finalSnapshot,
  isPaidByPool,
  laneOf,
  type Moment,
  pollResponse,
  receiptLeaf,
  statementText,
} from '@eloquentpoll/polls';
import type { Claim } from '@eloquentpoll/storage';
import type { PanelVotes } from './ask-panel.ts';
import { Abandoned } from './collect-votes.ts';
import type { Context } from './context.ts';
import { heardAudit } from './heard-audit.ts';
import { type LeasedPoll, logFields, ownerOf } from './run.ts';
import { savedByStopping } from './saved-by-stopping.ts';

/** Stores the outcome under the claim's epoch, then announces it. */
export async function storeResult(context: Context, run: LeasedPoll, collected: PanelVotes): Promise<void> {
  const { claim, claimedAt, lease } = run;
  const isCanceled = claim.isCanceled || lease.canceled.aborted;
  const { id: pollId, epoch, spec, resultId } = claim;
  const { state, votes, aborted, reason } = collected;
  const { polls, freeFailures, evidence } = context;
  const gatherMs = context.clock.now() - claimedAt;
  const totalMs = claim.ageMs + gatherMs;
  const known = {
    effectiveVotes: evidence.effectiveVotes(votes),
    reading: evidence.reading(spec.options.length, votes),
  };
  const isFree = isPaidByPool(spec.panel_name, claim.entryPoint);
  const paid = { isCanceled, isPaidByPool: isFree };
  const response = pollResponse({ ...collected, ...known, ...paid, resultId, spec, gatherMs, totalMs });
  const faultsU = votes.map(({ cost }) => cost?.fault_u ?? 0);
  const statement = statementText({ spec, response, acceptedAt: claim.createdAt, faultsU });
  const finished = {
    ...{ id: pollId, epoch, votes, aborted, freeFailures, response, isCanceled, receiptLeaf: receiptLeaf(statement) },
    savedU: isFree ? 0 : savedByStopping({ spec, reason, votes, aborted }),
    ...(claim.auditVersion !== null && { audit: heardAudit(spec, collected) }),
    payer: isFree ? undefined : (claim.accountId ?? undefined),
    lane: laneOf(spec),
  };
  const stored = await retryStore(context, run, () => polls.finish(finished));
  if (stored.outcome === 'fenced') {
    context.log.warn({ ...logFields(claim), epoch }, 'poll.result_fenced');
    return;
  }
  const end: Moment = { pollId, epoch, spec, state, received: votes.length, vote: null, elapsedMs: totalMs };
  const shown = isFree ? atNoCost(stored.response) : stored.response;
  await announceEnd(context, claim, finalSnapshot(end, shown));
  const { status } = stored.response;
  context.log.info({ ...logFields(claim), status, reason, votes: votes.length, total_ms: totalMs }, 'poll.ended');
}

/** The message may be lost: followers also read Postgres every 2 s. */
export async function announceEnd({ bus, log }: Context, claim: Claim, snapshot: ProgressSnapshot): Promise<void> {
  await bus.runs.end(claim.id, claim.epoch, ownerOf(claim), snapshot).catch((error) => {
    log.warn({ ...logFields(claim), err: error }, 'poll.end_not_announced');
  });
}

const STORE_RETRY_MS = [100, 300, 1_000, 2_000, 4_000, 8_000];

/** Storing is idempotent, so it is repeated when the answer to a write was lost. */
async function retryStore<T>(
  { clock, log }: Context,
  { claim, alive }: LeasedPoll,
  write: () => Promise<T>,
): Promise<T> {
  for (const pauseMs of STORE_RETRY_MS) {
    try {
      return await write();
    } catch (error) {
      if (alive.aborted) throw new Abandoned('the poll was taken away before it was stored');
      log.warn({ ...logFields(claim), err: error }, 'poll.store_failed');
      await new Promise<void>((resolve) => clock.after(pauseMs, resolve));
    }
  }
  return write();
}
