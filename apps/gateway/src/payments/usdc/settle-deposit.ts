import { setTimeout as wait } from 'node:timers/promises';
import type { ErrorCode } from '@eloquentpoll/contracts';
import { type Authorization, creditDeposit, failDeposit, leaveDeposit, noteSettled } from '@eloquentpoll/storage';
import { ApiError } from '../../http/api-error.ts';
import type { PaymentsContext } from '../context.ts';
import type { Payout } from './chain.ts';
import type { Desk } from './deposit-service.ts';
import type { Judgement } from './facilitator.ts';
import type { Payment } from './read-payment.ts';
import type { Terms } from './terms.ts';

// From a reserved deposit to money on an account. Whatever the facilitator says, or does not say, the chain decides: the
// transfer is there and is credited, or it is not and the deposit stays open for a second look.

export interface Reserved {
  id: string;
  authorization: Authorization;
  fromBlock: bigint;
}

export interface Credited {
  txHash: Buffer;
  accountId: string;
  isNewAccount: boolean;
}

export type Settlement =
  | { kind: 'credited'; credited: Credited }
  /** Credited by somebody else in the meantime. */
  | { kind: 'known' }
  /** No money moved, for this reason. */
  | { kind: 'failed'; code: ErrorCode }
  /** Nobody knows yet. */
  | { kind: 'open' };

type NewKey = { hash: Buffer; prefix: string; label: string };

export async function settleDeposit(
  context: PaymentsContext,
  desk: Desk,
  reserved: Reserved,
  { payment, terms, key }: { payment: Payment; terms: Terms; key: NewKey },
): Promise<Settlement> {
  const { storage, log } = context;
  const { facilitator } = desk;
  let verdict: Judgement;
  try {
    verdict = await facilitator.verify(payment, terms);
  } catch (cause) {
    // It was asked to look only, so nothing moved.
    await failDeposit(storage, reserved.id, 'payment_processor_error');
    throw new ApiError('payment_processor_error', { retryAfterSeconds: 5, cause });
  }
  if (!verdict.ok) return conclude(context, desk, reserved, key, codeOf(verdict.reason, 'payment_verification_failed'));

  const settled = await facilitator.settle(payment, terms).catch((error: unknown) => {
    log.warn({ err: error, deposit: reserved.id }, 'no word of a settlement');
    return null;
  });
  if (!settled) return conclude(context, desk, reserved, key, null);
  if (settled.ok) return expect(context, desk, reserved, key, settled.txHash);
  const code = /pending/.test(settled.reason) ? null : codeOf(settled.reason, 'payment_settlement_failed');
  return conclude(context, desk, reserved, key, code);
}

/** The facilitator says that the money moved: wait until it can be seen. */
async function expect(
  context: PaymentsContext,
  desk: Desk,
  reserved: Reserved,
  key: NewKey,
  txHash: Buffer | undefined,
): Promise<Settlement> {
  const { everyMs, forMs } = desk.patience;
  const { ending: signal } = context.shutdown;
  for (const until = Date.now() + forMs; Date.now() < until && !signal.aborted; ) {
    const payout = await look(context, desk, reserved, txHash);
    if (payout && isDeep(payout, reserved)) return credit(context, reserved, payout, key);
    await wait(everyMs, undefined, { signal }).catch(() => {});
  }
  context.log.warn({ deposit: reserved.id }, 'a settled deposit is not on the chain yet');
  await leaveDeposit(context.storage, reserved.id);
  return { kind: 'open' };
}

/** The facilitator did not do it, or did not say: it may be there all the same. `code` is why it should not be. */
async function conclude(
  context: PaymentsContext,
  desk: Desk,
  reserved: Reserved,
  key: NewKey,
  code: ErrorCode | null,
): Promise<Settlement> {
  const { storage } = context;
  const payout = await look(context, desk, reserved);
  if (payout && isDeep(payout, reserved)) return credit(context, reserved, payout, key);
  if (payout === undefined || payout || code === null) {
    await leaveDeposit(storage, reserved.id);
    return { kind: 'open' };
  }
  const precise = await preciser(code, desk, reserved);
  await failDeposit(storage, reserved.id, precise);
  return { kind: 'failed', code: precise };
}

const GENERAL: ReadonlySet<ErrorCode> = new Set(['payment_verification_failed', 'payment_settlement_failed']);

/** Where the facilitator gave no reason that we know, the chain may. */
async function preciser(code: ErrorCode, { chain }: Desk, { authorization }: Reserved): Promise<ErrorCode> {
  if (!GENERAL.has(code)) return code;
  const obstacle = await chain.obstacle(authorization).catch(() => null);
  if (obstacle === 'used') return 'payment_already_used';
  return obstacle === 'poor' ? 'payment_insufficient_funds' : code;
}

/** null: it is not there. undefined: the chain could not be asked. */
async function look(
  { log, storage }: PaymentsContext,
  { chain }: Desk,
  { id, authorization, fromBlock }: Reserved,
  txHash?: Buffer,
): Promise<Payout | null | undefined> {
  try {
    const payout = await chain.payout(authorization, fromBlock, txHash);
    if (payout) await noteSettled(storage, id, payout.txHash);
    return payout;
  } catch (error) {
    log.warn({ err: error, deposit: id }, 'the chain could not be asked about a deposit');
    return undefined;
  }
}

const SMALL_U = 50_000_000n;

/** One block is enough for small amounts; a larger one has to be built upon. */
export const isDeep = ({ depth }: Payout, { authorization }: { authorization: Authorization }): boolean =>
  depth >= (authorization.amountU <= SMALL_U ? 1n : 3n);

async function credit(context: PaymentsContext, { id }: Reserved, payout: Payout, key: NewKey): Promise<Settlement> {
  const account = await creditDeposit(context.storage, id, { txHash: payout.txHash, key });
  return account ? { kind: 'credited', credited: { ...account, txHash: payout.txHash } } : { kind: 'known' };
}

/** Reasons of facilitators by what is in them; anything else is told in our own general words. */
const REASONS: readonly [RegExp, ErrorCode][] = [
  [/insufficient_(funds|balance)/, 'payment_insufficient_funds'],
  [/valid_(before|after)|expired/, 'payment_expired'],
  [/nonce_already_used|already_(used|settled)/, 'payment_already_used'],
  [/signature/, 'payment_invalid_signature'],
  [/network|recipient|asset|token/, 'payment_network_mismatch'],
  [/value|amount/, 'payment_amount_mismatch'],
];

const codeOf = (reason: string, otherwise: ErrorCode): ErrorCode =>
  REASONS.find(([pattern]) => pattern.test(reason.slice(0, 200)))?.[1] ?? otherwise;
