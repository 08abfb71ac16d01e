import {
  advanceScan,
  claimScan,
  closeAlikeMisfits,
  type MoneyScan,
  noteMisfit,
  proveScan,
  storageTime,
  storeCardMovements,
  type UnlikePayment,
  unlikePayments,
} from '@eloquentpoll/storage';
import type { PaymentsContext } from '../context.ts';
import type { Processor } from './processor.ts';
import { syncPayment } from './sync-payment.ts';

// Every night all movements at the processor are read, span by span from a position in Postgres, and added up per
// payment. If a sum differs from the ledger, the payment is synced; if it still differs, it is a misfit.

const DAYS = 180;
const DAY_S = 86_400;
/** Recent movements may not be listed yet. */
const LAG_S = 300;
const BATCH_SIZE = 100;

export const movementsScan = ({ baseUrl }: PaymentsContext['config']): string => `card ${baseUrl}`;

export async function compareMovements(
  context: PaymentsContext,
  processor: Processor,
  signal: AbortSignal,
): Promise<void> {
  const { storage, config } = context;
  const nowS = BigInt(Math.floor((await storageTime(storage)) / 1_000));
  const claimed = await claimScan(storage, movementsScan(config), async () => nowS - BigInt(DAYS * DAY_S));
  if (!claimed) return;
  const scan = await readMovements(context, processor, { scan: claimed, end: nowS - BigInt(LAG_S), signal });
  if (!scan) return;
  const reached = new Date(Number(scan.position) * 1_000);
  if (!(await compareAll(context, processor, { reached, signal }))) return;
  await proveScan(storage, scan, { balanceU: null, reachedAt: reached, everyS: config.reconcile.movementsS });
}

/** Null when the reading was not completed, or when another process reads. */
async function readMovements(
  { storage }: PaymentsContext,
  processor: Processor,
  { scan: first, end, signal }: { scan: MoneyScan; end: bigint; signal: AbortSignal },
): Promise<MoneyScan | null> {
  let scan: MoneyScan | null = first;
  let spanS = BigInt(DAY_S);
  while (scan && scan.position < end) {
    if (signal.aborted) return null;
    const before: bigint = scan.position + spanS < end ? scan.position + spanS : end;
    const movements = await processor.movements(Number(scan.position), Number(before));
    if (movements === null) {
      if (spanS === 1n) throw new Error('more movements in a second than can be read at once');
      spanS = (spanS + 1n) / 2n;
      continue;
    }
    await storeCardMovements(storage, movements);
    scan = await advanceScan(storage, scan, { position: before, netU: 0n });
    // The span grows again after a busy period, which is read in small parts.
    spanS = spanS * 2n < DAY_S ? spanS * 2n : BigInt(DAY_S);
  }
  return scan;
}

/** False when it was aborted. */
async function compareAll(
  context: PaymentsContext,
  processor: Processor,
  { reached, signal }: { reached: Date; signal: AbortSignal },
): Promise<boolean> {
  const { storage } = context;
  for (let after = '', isMore = true; isMore; ) {
    const batch = await unlikePayments(storage, { days: DAYS, reached, after, limit: BATCH_SIZE });
    for (const payment of batch) {
      if (signal.aborted) return false;
      await syncUnlike(context, processor, payment);
      after = payment.paymentIntent;
    }
    isMore = batch.length === BATCH_SIZE;
  }
  await noteUnlike(context, reached);
  return true;
}

/** A payment that cannot be synced does not block the others; its difference remains. */
async function syncUnlike(
  context: PaymentsContext,
  processor: Processor,
  { paymentIntent, checkout }: UnlikePayment,
): Promise<void> {
  try {
    const name = checkout ?? (await processor.find(paymentIntent));
    if (name) await syncPayment(context, processor, name);
  } catch (error) {
    context.log.warn({ err: error, payment_intent: paymentIntent }, 'checkout.reconcile_failed');
  }
}

async function noteUnlike({ storage, log }: PaymentsContext, reached: Date): Promise<void> {
  for (let after = '', isMore = true; isMore; ) {
    const batch = await unlikePayments(storage, { days: DAYS, reached, after, limit: BATCH_SIZE });
    for (const { paymentIntent, checkout, processorCents, ledgerCents } of batch) {
      after = paymentIntent;
      const isNew = await noteMisfit(storage, {
        source: 'card',
        reference: paymentIntent,
        reason: checkout ? 'unlike_processor' : 'no_checkout',
        amountU: BigInt(processorCents - ledgerCents) * 10_000n,
        details: {
          processor_cents: String(processorCents),
          ledger_cents: String(ledgerCents),
          ...(checkout && { checkout_id: checkout.id, account_id: checkout.accountId }),
        },
      });
      if (isNew) log.error({ payment_intent: paymentIntent }, 'checkout.unreconciled');
    }
    isMore = batch.length === BATCH_SIZE;
  }
  await closeAlikeMisfits(storage);
}
