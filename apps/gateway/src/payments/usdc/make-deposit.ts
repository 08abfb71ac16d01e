import { createHmac, randomUUID } from 'node:crypto';
import type { Deposit } from '@eloquentpoll/contracts';
import {
  type Authorization,
  type DepositStanding,
  isKnownDeposit,
  nameOfIdentity,
  type Reservation,
  refuseMovedName,
  reserveDeposit,
  reservedAlready,
} from '@eloquentpoll/storage';
import { apiKeyPrefix, hashApiKey, newApiKey } from '../../accounts/keys/api-key.ts';
import { ApiError } from '../../http/api-error.ts';
import type { PaymentsContext } from '../context.ts';
import { centsOf, unitsOf } from './amount.ts';
import type { DepositService } from './deposit-service.ts';
import { facilitatorRequest } from './facilitator.ts';
import { type Payment, readPayment } from './read-payment.ts';
import { type Credited, settleDeposit } from './settle-deposit.ts';
import { paymentRequired, type Terms, termsFor } from './terms.ts';
import { validatePayment } from './validate-payment.ts';

// POST /api/deposit step by step: terms, payment, validation, reservation, settlement, answer. The account of the
// signer is credited, whatever else the request contains.

export interface PaidDeposit {
  deposit: Deposit;
  /** The x402 receipt, and the header that carries it. */
  receipt: { header: string; value: string };
}

export interface SentDeposit {
  amountUsd: number;
  /** The payment header; null requests the terms. */
  header: string | null;
  /** Chosen by the payer: a retry with the same secret proves that it comes from the payer. */
  secret: string | null;
}

export async function makeDeposit(
  context: PaymentsContext,
  deposits: DepositService,
  { amountUsd, header, secret }: SentDeposit,
): Promise<PaidDeposit> {
  const amountU = unitsOf(amountUsd);
  const terms = await currentTerms(context, deposits, amountU);
  if (header === null) throw await paymentRequired(terms, 'payment_required', 'X-PAYMENT header is required');
  const payment = await readPayment(header);
  await refuseMovedPayer(context, deposits, payment);
  const invalid = await validatePayment(payment, terms, deposits.settings);
  if (invalid) throw await paymentRequired(terms, invalid);

  const secretHash = secret === null ? null : hashSecret(context.config.keyPepper, secret);
  const { isPayer, ...reserved } = await reserve(context, deposits, { payment, terms, secretHash });
  const { cell, keyPepper } = context.config;
  // Id of the account that is opened if the payer has none.
  const accountId = randomUUID();
  const key = isPayer ? newApiKey({ cell, accountId }) : null;
  const newKey = key !== null && {
    accountId,
    hash: hashApiKey(keyPepper, key),
    prefix: apiKeyPrefix(key),
    label: 'First deposit',
  };
  const settlement = await settleDeposit(context, deposits, reserved, {
    payment,
    terms,
    ...(newKey && { key: newKey }),
  });
  if (settlement.kind !== 'already_credited')
    context.money.deposit(settlement.kind, settlement.kind === 'credited' ? amountU : 0n);
  switch (settlement.kind) {
    case 'credited':
      return paidDeposit(context, reserved.id, { payment, terms, credited: settlement.credited, key });
    case 'failed':
      throw await paymentRequired(terms, settlement.code);
    case 'already_credited':
      throw await paymentRequired(terms, 'payment_already_used');
    case 'pending':
      throw new ApiError('deposit_in_progress', {
        detail: 'The payment is not on the chain yet; it is credited when it is. Do not sign another one.',
        retryAfterSeconds: 10,
      });
  }
}

/**
 * Refuses a payer whose account has moved, except for payments known here or signed for this cell's payee: the other
 * cell has another payee, would ask for a second payment and be offered this one again. The money follows the account.
 */
async function refuseMovedPayer(
  { storage }: PaymentsContext,
  { settings }: DepositService,
  payment: Payment,
): Promise<void> {
  if (bytes(payment.to).equals(bytes(settings.payTo))) return;
  const payer = bytes(payment.from);
  const name = { chainId: settings.chainId, asset: bytes(settings.asset), payer, nonce: bytes(payment.nonce) };
  if (await isKnownDeposit(storage, name)) return;
  await refuseMovedName(storage, nameOfIdentity({ kind: 'wallet', address: payer }));
}

const hashSecret = (pepper: string, secret: string): Buffer =>
  createHmac('sha256', pepper).update(`deposit secret ${secret}`).digest();

async function currentTerms(
  { config }: PaymentsContext,
  { chain, settings }: DepositService,
  amountU: bigint,
): Promise<Terms> {
  return termsFor(settings, await orUnavailable(chain.token()), amountU, config.baseUrl);
}

/** For reads before the reservation: a failure is a 503, and the payment can be sent again. */
async function orUnavailable<T>(answer: Promise<T>): Promise<T> {
  try {
    return await answer;
  } catch (cause) {
    throw new ApiError('service_unavailable', {
      detail: 'The chain is out of reach for now.',
      retryAfterSeconds: 5,
      cause,
    });
  }
}

async function reserve(
  context: PaymentsContext,
  deposits: DepositService,
  { payment, terms, secretHash }: { payment: Payment; terms: Terms; secretHash: Buffer | null },
) {
  const { chain, settings } = deposits;
  const authorization: Authorization = {
    chainId: settings.chainId,
    asset: bytes(settings.asset),
    payer: bytes(payment.from),
    nonce: bytes(payment.nonce),
    payTo: bytes(settings.payTo),
    amountU: terms.amountU,
  };
  const fromBlock = await orUnavailable(chain.head());
  const isPublic = await requireMovable(context, deposits, { authorization, fromBlock, terms });
  const { validAfter, validBefore } = payment;
  const proof = { ...facilitatorRequest(payment, terms).paymentPayload };
  const offered = { ...authorization, validAfter, validBefore, proof, fromBlock, secretHash, isPublic };
  const reservation = await reserveDeposit(context.storage, offered);
  if (reservation.kind === 'expired' && isEarly(payment)) throw await paymentRequired(terms, 'payment_not_yet_valid');
  if (reservation.kind !== 'reserved') throw await refusalOf(reservation, terms);
  const { id, isPayer, mayHaveMoved } = reservation;
  return { id, isPayer, mayHaveMoved, authorization, fromBlock };
}

/** Postgres has already refused the payment by its own clock; ours only selects the message. */
const isEarly = ({ validAfter }: Payment): boolean => Number(validAfter) * 1_000 > Date.now();

async function refusalOf(
  standing: DepositStanding | Exclude<Reservation, { kind: 'reserved' }>,
  terms: Terms,
): Promise<ApiError> {
  if (standing.kind === 'used' || standing.kind === 'expired')
    return paymentRequired(terms, standing.kind === 'used' ? 'payment_already_used' : 'payment_expired');
  return new ApiError('deposit_in_progress', { retryAfterSeconds: standing.retryAfterS });
}

/** Checked before anything is stored: a 402 if the authorization cannot move money to us. True if it already has. */
async function requireMovable(
  context: PaymentsContext,
  { chain }: DepositService,
  { authorization, fromBlock, terms }: { authorization: Authorization; fromBlock: bigint; terms: Terms },
): Promise<boolean> {
  const obstacle = await orUnavailable(chain.obstacle(authorization));
  if (obstacle === null) return false;
  // No 402 for a payment that is being settled or may have been: the client would sign a second one.
  const standing = await reservedAlready(context.storage, authorization);
  if (standing && standing.kind !== 'unknown_outcome') throw await refusalOf(standing, terms);
  if (obstacle === 'used' && (await orUnavailable(chain.findTransfer(authorization, fromBlock)))) return true;
  if (standing) throw await refusalOf(standing, terms);
  throw await paymentRequired(terms, obstacle === 'used' ? 'payment_already_used' : 'payment_insufficient_funds');
}

const bytes = (hex: `0x${string}`): Buffer => Buffer.from(hex.slice(2), 'hex');

async function paidDeposit(
  { config }: PaymentsContext,
  id: string,
  { payment, terms, credited, key }: { payment: Payment; terms: Terms; credited: Credited; key: string | null },
): Promise<PaidDeposit> {
  const { encodePaymentResponseHeader } = await import('@x402/core/http');
  const { getAddress } = await import('ethers');
  const transaction = `0x${credited.txHash.toString('hex')}`;
  const payer = getAddress(payment.from);
  const network = payment.version === 1 ? terms.v1.network : terms.v2.network;
  const receipt = { success: true, transaction, network: network as `${string}:${string}`, payer };
  const amountCents = centsOf(terms.amountU);
  return {
    deposit: {
      deposit_id: id,
      amount_usd: amountCents / 100,
      amount_cents: amountCents,
      tx_hash: transaction,
      payer,
      user_id: credited.accountId,
      is_new_user: credited.isNewAccount,
      ...(credited.isNewAccount &&
        (key === null
          ? { wallet_login: `${config.baseUrl}/api/wallet/challenge?address=${payer}` }
          : { api_key: key })),
    },
    receipt: {
      header: payment.version === 1 ? 'X-PAYMENT-RESPONSE' : 'PAYMENT-RESPONSE',
      value: encodePaymentResponseHeader(receipt),
    },
  };
}
