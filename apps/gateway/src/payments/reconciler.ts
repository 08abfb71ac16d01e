import { repeat } from '@eloquentpoll/ops';
import { withLock } from '@eloquentpoll/storage';
import { compareMovements } from './card/compare-movements.ts';
import { reconcilePayments } from './card/reconcile-payments.ts';
import type { PaymentsContext } from './context.ts';
import type { ReconciliationRound } from './money-metrics.ts';
import { reconcileDeposits } from './usdc/reconcile-deposits.ts';
import { scanTransfers } from './usdc/scan-transfers.ts';

// Periodically completes payments that a lost event or a crashed process left open. Every gateway runs it; checkouts
// are reconciled under a lock.

const ROUND_TIMEOUT_MS = 60_000;
/** Longer than a round, so that a lock is not taken over while its round still runs. */
const LOCK_TERM_MS = 90_000;
/** How often a process checks whether a comparison of all movements is due. */
const LOOK_EVERY_S = 60;

/** Runs until disposed. Disposal aborts the current round, which may stop at any point. */
export function startReconciler(context: PaymentsContext): AsyncDisposable {
  const { processor, deposits, storage, config } = context;
  const loops: AsyncDisposable[] = [];

  const every = (seconds: number, kind: ReconciliationRound, round: (signal: AbortSignal) => Promise<unknown>) =>
    repeat(
      async (signal) => {
        await round(AbortSignal.any([signal, AbortSignal.timeout(ROUND_TIMEOUT_MS)]));
      },
      {
        everyMs: seconds * 1_000,
        firstMs: 0,
        onError(err) {
          context.money.failed(kind);
          context.log.warn({ err, kind }, 'reconciliation.round_failed');
        },
      },
    );

  if (processor) {
    const round = (signal: AbortSignal) =>
      withLock(storage, 'checkouts', LOCK_TERM_MS, () => reconcilePayments(context, processor, signal));
    loops.push(every(config.reconcile.checkoutsS, 'checkouts', round));
    loops.push(every(LOOK_EVERY_S, 'movements', (signal) => compareMovements(context, processor, signal)));
  }
  // Needs no lock: the queries give each deposit, and each due scan, to one gateway only.
  if (deposits) {
    loops.push(
      every(config.reconcile.depositsS, 'deposits', (signal) => reconcileDeposits(context, deposits, signal)),
      every(LOOK_EVERY_S, 'transfers', (signal) => scanTransfers(context, deposits, signal)),
    );
  }
  return {
    async [Symbol.asyncDispose]() {
      await Promise.all(loops.map((loop) => loop[Symbol.asyncDispose]()));
    },
  };
}
