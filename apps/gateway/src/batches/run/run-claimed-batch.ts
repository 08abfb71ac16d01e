import type { NotRunReason } from '@eloquentpoll/contracts';
import { type ClaimedBatch, endBatch, type RunnersBatch, renewBatch } from '@eloquentpoll/storage';
import type { PollsContext } from '../../polls/context.ts';
import { type AcceptedRows, acceptRows, type Refusal } from './accept-rows.ts';
import { cancelBatchPolls } from './cancel-batch-polls.ts';

// Runs one batch from its claim to its end, or until another gateway has it. A limited number of its polls runs or
// waits at a time; all other rows stay in Postgres, so a batch of any size takes the same memory here.

/** A dead gateway loses its batches after this time. */
export const RUNNER_LEASE_MS = 6_000;
/** Maximum number of a batch's polls that are accepted and have not ended. */
const WINDOW = 500;
/** Rows are accepted once this many places are free, or when these are the last rows. */
const REFILL = 50;
/** Maximum number of rows accepted at once: this must take less time than the lease. */
const MAX_AT_ONCE = 200;
const LOOK_EVERY_MS = 250;
/** Waiting time while operators have stopped polls, the ceiling is reached, or a store does not answer. */
const BACKOFF_MS = { first: 1_000, longest: 30_000 };

/** Rows that the reservation did not cover are tried again after this time, even if no money came back. */
const UNCOVERED_LOOK_MS = 30_000;

interface Uncovered {
  /** The reservation must reach this amount before another row is tried. */
  neededU: bigint;
  /** The hold that the first row that was not started needs. */
  nextHoldU: bigint;
  lookAt: number;
}

interface Runner {
  /** Resolves early when the signal aborts. */
  pause(ms: number): Promise<void>;
  signal: AbortSignal;
}

/** Resolves when this process is done with the batch. After an error, any gateway may claim it. */
export async function runClaimedBatch(
  context: PollsContext,
  batch: ClaimedBatch,
  { pause, signal }: Runner,
): Promise<'ended' | 'lost' | 'released'> {
  const canceled = new Set<string>();
  let afterLine = 0;
  let waitsMs = BACKOFF_MS.first;
  let resumeAt = 0;
  let refusal: Refusal | null = null;
  /** The reservation did not cover the next row, and no poll was running that could have returned money. */
  let isSpent = false;
  let uncovered: Uncovered | null = null;

  /** Why no further rows are started; null while rows may start. */
  function overBy({ status, waiting, isExpired }: RunnersBatch): NotRunReason | 'done' | null {
    if (status === 'canceling') return 'canceled';
    if (waiting === 0) return 'done';
    if (isExpired || refusal === 'expired') return 'expired';
    return isSpent ? 'uncovered' : null;
  }

  /** Number of rows to prepare: as many as the reservation may cover, and one more to learn what the next row needs. */
  function limitOf({ running, reservedU }: RunnersBatch): number {
    const free = Math.min(WINDOW - running, MAX_AT_ONCE);
    if (uncovered === null) return free;
    if (reservedU < uncovered.neededU && running > 0 && performance.now() < uncovered.lookAt) return 0;
    return Math.min(free, Number(reservedU / uncovered.nextHoldU) + 1);
  }

  while (!signal.aborted) {
    const standing = await renewBatch(context.storage, batch, RUNNER_LEASE_MS, refusal === 'stopped');
    if (!standing) return 'lost';
    const over = overBy(standing);
    if (over !== null && standing.running === 0) {
      const ending = await endBatch(context.storage, batch, over === 'done' ? null : over);
      if (ending === 'ended_now' || ending === 'ended') return 'ended';
      if (ending === 'fenced') return 'lost';
    } else if (over === 'canceled') {
      await cancelBatchPolls(context, batch, canceled);
    } else if (over === null && performance.now() >= resumeAt) {
      const free = WINDOW - standing.running;
      const limit = limitOf(standing);
      if (limit > 0 && free >= Math.min(REFILL, standing.waiting)) {
        const accepted = await acceptRows(context, batch, { afterLine, limit });
        const hasMoved = accepted.afterLine > afterLine;
        isSpent = accepted.refusal === 'uncovered' && standing.running === 0 && !hasMoved;
        uncovered = uncoveredBy(accepted, hasMoved ? 0n : standing.reservedU);
        ({ afterLine, refusal } = accepted);
        if (refusal === 'lost') return 'lost';
        if (refusal === null || refusal === 'uncovered') waitsMs = BACKOFF_MS.first;
        else {
          resumeAt = performance.now() + waitsMs;
          waitsMs = Math.min(waitsMs * 2, BACKOFF_MS.longest);
          context.log.warn({ batch_id: batch.id, refusal }, 'batch.waits');
        }
      }
    }
    await pause(LOOK_EVERY_MS);
  }
  await renewBatch(context.storage, batch, 0);
  return 'released';
}

/** `triedU` is the reservation when no row could be started. If it was enough, the account's balance was not. */
function uncoveredBy({ refusal, nextHoldU = 1n }: AcceptedRows, triedU: bigint): Uncovered | null {
  if (refusal !== 'uncovered') return null;
  const nextU = nextHoldU > 1n ? nextHoldU : 1n;
  const neededU = triedU >= nextU ? triedU + 1n : nextU;
  return { neededU, nextHoldU: nextU, lookAt: performance.now() + UNCOVERED_LOOK_MS };
}
