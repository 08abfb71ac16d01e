import type { Deposit } from '@eloquentpoll/contracts';
import { type Authorization, reserveDeposit } from '@eloquentpoll/storage';
import { apiKeyPrefix, hashApiKey, newApiKey } from '../../accounts/keys/api-key.ts';
import { ApiError } from '../../http/api-error.ts';
import type { PaymentsContext } from '../context.ts';
import { centsOf, unitsOf } from './amount.ts';
import type { Desk } from './deposit-service.ts';
import { submissionOf } from './facilitator.ts';
import { faultOf } from './judge-payment.ts';
import { type Payment, readPayment } from './read-payment.ts';
import { type Credited, settleDeposit } from './settle-deposit.ts';
import { refusal, type Terms, termsFor } from './terms.ts';

// POST /api/deposit as a walk: terms, payment, judgement, reservation, settlement, answer. Whose account is credited
// is decided by who signed, and by nothing else in the request.

export interface Paid {
  deposit: Deposit;
  /** The receipt that x402 clients read, and the header they read it from. */
  receipt: { header: string; value: string };
}

export async function makeDeposit(
  context: PaymentsContext,
  desk: Desk,
  amountUsd: number,
  header: string | null,
): Promise<Paid> {
  const amountU = unitsOf(amountUsd);
  const terms = await currentTerms(context, desk, amountU);
  if (header === null) throw await refusal(terms, 'payment_required', 'X-PAYMENT header is required');
  const payment = await readPayment(header);
  const fault = await faultOf(payment, terms, desk.settings);
  if (fault) throw await refusal(terms, fault);

  const reserved = await reserve(context, desk, payment, terms);
  const key = newApiKey();
  const hash = hashApiKey(context.config.keyPepper, key);
  const settlement = await settleDeposit(context, desk, reserved, {
    payment,
    terms,
    key: { hash, prefix: apiKeyPrefix(key), label: 'First deposit' },
  });
  switch (settlement.kind) {
    case 'credited':
      return paid(reserved.id, payment, terms, settlement.credited, key);
    case 'failed':
      throw await refusal(terms, settlement.code);
    case 'known':
      throw await refusal(terms, 'payment_already_used');
    case 'open':
      throw new ApiError('deposit_in_progress', {
        detail: 'The payment is not on the chain yet; it is credited when it is. Do not sign another one.',
        retryAfterSeconds: 10,
      });
  }
}

async function currentTerms({ config }: PaymentsContext, { chain, settings }: Desk, amountU: bigint): Promise<Terms> {
  return termsFor(settings, await reachable(chain.token()), amountU, config.baseUrl);
}

/** What is asked of the chain before anything happened. */
async function reachable<T>(answer: Promise<T>): Promise<T> {
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

async function reserve({ storage }: PaymentsContext, { chain, settings }: Desk, payment: Payment, terms: Terms) {
  const authorization: Authorization = {
    chainId: settings.chainId,
    asset: bytes(settings.asset),
    payer: bytes(payment.from),
    nonce: bytes(payment.nonce),
    payTo: bytes(settings.payTo),
    amountU: terms.amountU,
  };
  const fromBlock = await reachable(chain.head());
  const { validAfter, validBefore } = payment;
  const proof = { ...submissionOf(payment, terms).paymentPayload };
  const offered = { ...authorization, validAfter, validBefore, proof, fromBlock };
  const reservation = await reserveDeposit(storage, offered);
  switch (reservation.kind) {
    case 'reserved':
      return { id: reservation.id, authorization, fromBlock };
    case 'expired':
      throw await refusal(terms, 'payment_expired');
    case 'used':
      throw await refusal(terms, 'payment_already_used');
    case 'in_progress':
      throw new ApiError('deposit_in_progress', { retryAfterSeconds: reservation.retryAfterS });
  }
}

const bytes = (hex: `0x${string}`): Buffer => Buffer.from(hex.slice(2), 'hex');

async function paid(id: string, payment: Payment, terms: Terms, credited: Credited, key: string): Promise<Paid> {
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
