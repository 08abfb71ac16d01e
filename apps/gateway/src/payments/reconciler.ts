import { setTimeout as wait } from 'node:timers/promises';
import { withLock } from '@eloquentpoll/storage';
import { reconcilePayments } from './card/reconcile-payments.ts';
import type { PaymentsContext } from './context.ts';
import { reconcileDeposits } from './usdc/reconcile-deposits.ts';

// Money that was left in the middle, by a lost event or a process that died: every replica looks for it now and then,
// one at a time. A round that fails is followed by the next one.

/** A round ends well before the others stop believing in it. */
const ROUND_MS = 60_000;
const PATIENCE_MS = 90_000;
const LAST_WORDS_MS = 2_000;

/** Runs until disposed. A round under way is told to end, and is not waited for long: it may be left in the middle too. */
export function startReconciler(context: PaymentsContext): AsyncDisposable {
  const stop = new AbortController();
  const { processor, desk, storage, config } = context;
  const loops: Promise<void>[] = [];

  async function every(seconds: number, what: string, round: (signal: AbortSignal) => Promise<unknown>) {
    while (!stop.signal.aborted) {
      try {
        await round(AbortSignal.any([stop.signal, AbortSignal.timeout(ROUND_MS)]));
      } catch (error) {
        context.log.warn({ err: error, what }, 'a round of reconciliation failed');
      }
      // Not all replicas at the same moment.
      const pause = seconds * (900 + Math.random() * 200);
      await wait(pause, undefined, { signal: stop.signal, ref: false }).catch(() => {});
    }
  }

  if (processor) {
    const round = (signal: AbortSignal) =>
      withLock(storage, 'checkouts', PATIENCE_MS, () => reconcilePayments(context, processor, signal));
    loops.push(every(config.reconcile.checkoutsS, 'checkouts', round));
  }
  // Each deposit is given to one replica, so no lock.
  if (desk)
    loops.push(every(config.reconcile.depositsS, 'deposits', (signal) => reconcileDeposits(context, desk, signal)));
  return {
    async [Symbol.asyncDispose]() {
      stop.abort();
      await Promise.race([Promise.all(loops), wait(LAST_WORDS_MS, undefined, { ref: false })]);
    },
  };
}
