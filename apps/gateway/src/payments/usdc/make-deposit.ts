import type { Deposit } from '@eloquentpoll/contracts';
import { type Authorization, reserveDeposit } from '@eloquentpoll/storage';
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

// POST /api/deposit step by step: terms, payment, validation, reservation, settlement, answer. The signer's account is
// credited, whatever else the request contains.

export interface PaidDeposit {
  deposit: Deposit;
  /** The x402 receipt, and the header that carries it. */
  receipt: { header: string; value: string };
}

export async function makeDeposit(
  context: PaymentsContext,
  deposits: DepositService,
  amountUsd: number,
  header: string | null,
): Promise<PaidDeposit> {
  const amountU = unitsOf(amountUsd);
  const terms = await currentTerms(context, deposits, amountU);
  if (header === null) throw await paymentRequired(terms, 'payment_required', 'X-PAYMENT header is required');
  const payment = await readPayment(header);
  const invalid = await validatePayment(payment, terms, deposits.settings);
  if (invalid) throw await paymentRequired(terms, invalid);

  const reserved = await reserve(context, deposits, payment, terms);
  const key = newApiKey();
  const hash = hashApiKey(context.config.keyPepper, key);
  const settlement = await settleDeposit(context, deposits, reserved, {
    payment,
    terms,
    key: { hash, prefix: apiKeyPrefix(key), label: 'First deposit' },
  });
  switch (settlement.kind) {
    case 'credited':
      return paidDeposit(reserved.id, payment, terms, settlement.credited, key);
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
  { storage }: PaymentsContext,
  { chain, settings }: DepositService,
  payment: Payment,
  terms: Terms,
) {
  const authorization: Authorization = {
    chainId: settings.chainId,
    asset: bytes(settings.asset),
    payer: bytes(payment.from),
    nonce: bytes(payment.nonce),
    payTo: bytes(settings.payTo),
    amountU: terms.amountU,
  };
  const fromBlock = await orUnavailable(chain.head());
  const { validAfter, validBefore } = payment;
  const proof = { ...facilitatorRequest(payment, terms).paymentPayload };
  const offered = { ...authorization, validAfter, validBefore, proof, fromBlock };
  const reservation = await reserveDeposit(storage, offered);
  switch (reservation.kind) {
    case 'reserved':
      return { id: reservation.id, authorization, fromBlock };
    case 'expired':
      throw await paymentRequired(terms, 'payment_expired');
    case 'used':
      throw await paymentRequired(terms, 'payment_already_used');
    case 'in_progress':
      throw new ApiError('deposit_in_progress', { retryAfterSeconds: reservation.retryAfterS });
  }
}

const bytes = (hex: `0x${string}`): Buffer => Buffer.from(hex.slice(2), 'hex');

async function paidDeposit(
  id: string,
  payment: Payment,
  terms: Terms,
  credited: Credited,
  key: string,
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
      ...(credited.isNewAccount && { api_key: key }),
    },
    receipt: {
      header: payment.version === 1 ? 'X-PAYMENT-RESPONSE' : 'PAYMENT-RESPONSE',
      value: encodePaymentResponseHeader(receipt),
    },
  };
}
