import { setTimeout as wait } from 'node:timers/promises';
import type { ErrorCode } from '@eloquentpoll/contracts';
import {
  type Authorization,
  creditDeposit,
  failDeposit,
  leaveDeposit,
  noteHanded,
  noteSettled,
} from '@eloquentpoll/storage';
import { ApiError } from '../../http/api-error.ts';
import type { PaymentsContext } from '../context.ts';
import type { ChainTransfer } from './chain.ts';
import type { DepositService } from './deposit-service.ts';
import type { FacilitatorVerdict } from './facilitator.ts';
import type { Payment } from './read-payment.ts';
import { codeOfReason, loggedReason } from './refusal-reasons.ts';
import type { Terms } from './terms.ts';

// Settles a reserved deposit. The chain decides, not the facilitator: a confirmed transfer is credited. Without one the
// deposit fails, or stays open for the reconciler if the outcome is unknown.

export interface Reserved {
  id: string;
  authorization: Authorization;
  fromBlock: bigint;
  /** The transfer is on the chain, or an earlier attempt ended without an outcome; then a refusal proves nothing. */
  mayHaveMoved: boolean;
}

export interface Credited {
  txHash: Buffer;
  accountId: string;
  isNewAccount: boolean;
}

export type Settlement =
  | { kind: 'credited'; credited: Credited }
  /** Credited by a concurrent request or by the reconciler. */
  | { kind: 'already_credited' }
  /** No money moved, for this reason. */
  | { kind: 'failed'; code: ErrorCode }
  /** The outcome is not known yet. */
  | { kind: 'pending' };

type NewKey = { accountId: string; hash: Buffer; prefix: string; label: string };

export async function settleDeposit(
  context: PaymentsContext,
  deposits: DepositService,
  reserved: Reserved,
  { payment, terms, key }: { payment: Payment; terms: Terms; key?: NewKey },
): Promise<Settlement> {
  const { storage, log } = context;
  const { facilitator } = deposits;
  let verdict: FacilitatorVerdict;
  try {
    verdict = await facilitator.verify(payment, terms);
  } catch (cause) {
    // verify does not submit anything, so this attempt moved no money.
    if (reserved.mayHaveMoved) await leaveDeposit(storage, reserved.id);
    else await failDeposit(storage, reserved.id, 'payment_processor_error');
    throw new ApiError('payment_processor_error', { retryAfterSeconds: 5, cause });
  }
  if (!verdict.ok) {
    log.info({ deposit_id: reserved.id, reason: loggedReason(verdict.reason) }, 'deposit.verification_refused');
    const code = codeOfReason(verdict.reason, 'payment_verification_failed');
    return resolveUnconfirmed(context, deposits, reserved, key, { code, isHanded: false });
  }

  await noteHanded(storage, reserved.id);
  const settled = await facilitator.settle(payment, terms).catch((error: unknown) => {
    log.warn({ err: error, deposit_id: reserved.id }, 'deposit.settlement_unknown');
    return null;
  });
  if (!settled) return resolveUnconfirmed(context, deposits, reserved, key, null);
  if (settled.ok) return awaitTransfer(context, deposits, reserved, key, settled.txHash);
  log.warn({ deposit_id: reserved.id, reason: loggedReason(settled.reason) }, 'deposit.settlement_refused');
  const code = codeOfReason(settled.reason, 'payment_settlement_failed');
  const refusal = /pending/.test(settled.reason) ? null : { code, isHanded: true };
  return resolveUnconfirmed(context, deposits, reserved, key, refusal);
}

/** A refusal by the facilitator; `isHanded`: the facilitator had been asked to settle. */
interface Refusal {
  code: ErrorCode;
  isHanded: boolean;
}

/** After a successful settlement: waits until the transfer is confirmed on the chain. */
async function awaitTransfer(
  context: PaymentsContext,
  deposits: DepositService,
  reserved: Reserved,
  key: NewKey | undefined,
  txHash: Buffer | undefined,
): Promise<Settlement> {
  const { everyMs, timeoutMs } = deposits.confirmation;
  const { ending: signal } = context.shutdown;
  for (const until = Date.now() + timeoutMs; Date.now() < until && !signal.aborted; ) {
    const transfer = await findTransfer(context, deposits, reserved, txHash);
    if (transfer && isConfirmed(transfer, reserved)) return credit(context, reserved, transfer, key);
    await wait(everyMs, undefined, { signal }).catch(() => {});
  }
  context.log.warn({ deposit_id: reserved.id }, 'deposit.confirmation_delayed');
  await leaveDeposit(context.storage, reserved.id);
  return { kind: 'pending' };
}

/** After a refused or unknown settlement (`refusal` is null): the transfer may be on the chain all the same. */
async function resolveUnconfirmed(
  context: PaymentsContext,
  deposits: DepositService,
  reserved: Reserved,
  key: NewKey | undefined,
  refusal: Refusal | null,
): Promise<Settlement> {
  const { storage } = context;
  const transfer = await findTransfer(context, deposits, reserved);
  if (transfer && isConfirmed(transfer, reserved)) return credit(context, reserved, transfer, key);
  async function leaveOpen(): Promise<Settlement> {
    await leaveDeposit(storage, reserved.id);
    return { kind: 'pending' };
  }
  if (transfer === undefined || transfer || refusal === null || reserved.mayHaveMoved) return leaveOpen();
  const code = await refineErrorCode(refusal, deposits, reserved);
  // The facilitator may have used it itself, in a transaction that the node does not show yet.
  if (refusal.isHanded && code === 'payment_already_used') return leaveOpen();
  await failDeposit(storage, reserved.id, code);
  return { kind: 'failed', code };
}

const GENERIC_CODES: ReadonlySet<ErrorCode> = new Set(['payment_verification_failed', 'payment_settlement_failed']);

/**
 * Asks the chain for the reason if the facilitator gave no known one, or if it submitted the payment and reports too
 * little money: that may be the wallet that pays the gas.
 */
async function refineErrorCode(
  { code, isHanded }: Refusal,
  { chain }: DepositService,
  { authorization }: Reserved,
): Promise<ErrorCode> {
  const isDoubtful = isHanded && code === 'payment_insufficient_funds';
  if (!isDoubtful && !GENERIC_CODES.has(code)) return code;
  const obstacle = await chain.obstacle(authorization).catch(() => null);
  if (obstacle === 'used') return 'payment_already_used';
  if (obstacle === 'insufficient_funds') return 'payment_insufficient_funds';
  return isDoubtful ? 'payment_settlement_failed' : code;
}

/** null: not on the chain. undefined: the chain did not answer. */
async function findTransfer(
  { log, storage }: PaymentsContext,
  { chain }: DepositService,
  { id, authorization, fromBlock }: Reserved,
  txHash?: Buffer,
): Promise<ChainTransfer | null | undefined> {
  try {
    const transfer = await chain.findTransfer(authorization, fromBlock, txHash);
    if (transfer) await noteSettled(storage, id, transfer.txHash);
    return transfer;
  } catch (error) {
    log.warn({ err: error, deposit_id: id }, 'deposit.chain_unavailable');
    return undefined;
  }
}

const MAX_SMALL_U = 50_000_000n;

/** Small amounts need one confirmation, larger ones three. */
export const isConfirmed = ({ depth }: ChainTransfer, { authorization }: { authorization: Authorization }): boolean =>
  depth >= (authorization.amountU <= MAX_SMALL_U ? 1n : 3n);

async function credit(
  context: PaymentsContext,
  { id }: Reserved,
  { txHash }: ChainTransfer,
  key: NewKey | undefined,
): Promise<Settlement> {
  const account = await creditDeposit(context.storage, id, { txHash, ...(key && { key }) });
  return account ? { kind: 'credited', credited: { ...account, txHash } } : { kind: 'already_credited' };
}
