import { setTimeout as wait } from 'node:timers/promises';
import { withTimeout } from '@eloquentpoll/ops';
import { withLock } from '@eloquentpoll/storage';
import { compareMovements } from './card/compare-movements.ts';
import { reconcilePayments } from './card/reconcile-payments.ts';
import type { PaymentsContext } from './context.ts';
import type { ReconciliationRound } from './money-metrics.ts';
import { reconcileDeposits } from './usdc/reconcile-deposits.ts';
import { scanTransfers } from './usdc/scan-transfers.ts';

// Periodically completes payments that a lost event or a crashed process left open. Every replica runs it; checkouts are
// reconciled under a lock.

const ROUND_TIMEOUT_MS = 60_000;
/** Longer than a round, so a lock is not taken over while its round still runs. */
const LOCK_TERM_MS = 90_000;
const SHUTDOWN_GRACE_MS = 2_000;
/** How often a process looks whether a comparison of all movements is due. */
const LOOK_EVERY_S = 60;

/** Runs until disposed. Disposal aborts the current round, which may stop at any point. */
export function startReconciler(context: PaymentsContext): AsyncDisposable {
  const stop = new AbortController();
  const { processor, deposits, storage, config } = context;
  const loops: Promise<void>[] = [];

  async function repeat(seconds: number, kind: ReconciliationRound, round: (signal: AbortSignal) => Promise<unknown>) {
    while (!stop.signal.aborted) {
      try {
        await round(AbortSignal.any([stop.signal, AbortSignal.timeout(ROUND_TIMEOUT_MS)]));
      } catch (error) {
        context.money.failed(kind);
        context.log.warn({ err: error, kind }, 'reconciliation.round_failed');
      }
      // Jitter, so that replicas do not run at the same moment.
      const pause = seconds * (900 + Math.random() * 200);
      await wait(pause, undefined, { signal: stop.signal, ref: false }).catch(() => {});
    }
  }

  if (processor) {
    const round = (signal: AbortSignal) =>
      withLock(storage, 'checkouts', LOCK_TERM_MS, () => reconcilePayments(context, processor, signal));
    loops.push(repeat(config.reconcile.checkoutsS, 'checkouts', round));
    loops.push(repeat(LOOK_EVERY_S, 'movements', (signal) => compareMovements(context, processor, signal)));
  }
  // No lock: the query gives each deposit to one replica, and each due scan.
  if (deposits) {
    loops.push(
      repeat(config.reconcile.depositsS, 'deposits', (signal) => reconcileDeposits(context, deposits, signal)),
      repeat(LOOK_EVERY_S, 'transfers', (signal) => scanTransfers(context, deposits, signal)),
    );
  }
  return {
    async [Symbol.asyncDispose]() {
      stop.abort();
      await withTimeout(Promise.all(loops), SHUTDOWN_GRACE_MS).catch(() => {});
    },
  };
}
