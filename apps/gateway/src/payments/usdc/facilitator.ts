import type { PaymentPayload, PaymentPayloadV1, PaymentRequirements, PaymentRequirementsV1 } from '@x402/core/types';
import { boundedFetch } from '../../http/bounded-fetch.ts';
import type { Payment } from './read-payment.ts';
import type { Terms } from './terms.ts';

// Who checks a payment and hands it to the chain. What it says is a reason to look at the chain, and its words stay
// here: they are matched against known ones and never repeated. The client of @x402/core follows redirects, has no bound
// for answers and prints parts of them, so this is our own.

export type Judgement = { ok: true; txHash?: Buffer } | { ok: false; reason: string };

/** Both throw when nobody can say what happened. */
export interface Facilitator {
  verify(payment: Payment, terms: Terms): Promise<Judgement>;
  settle(payment: Payment, terms: Terms): Promise<Judgement>;
}

const TIMEOUT_MS = 10_000;
const MOST_BYTES = 64 * 1_024;

export type Submission =
  | {
      x402Version: 1;
      paymentPayload: PaymentPayloadV1;
      paymentRequirements: Omit<PaymentRequirementsV1, 'outputSchema'>;
    }
  | { x402Version: 2; paymentPayload: PaymentPayload; paymentRequirements: PaymentRequirements };

/** Written anew from what was parsed: nothing that we did not read goes further. */
export function submissionOf(payment: Payment, { v1, v2, resource }: Terms): Submission {
  const payload = {
    signature: payment.signature,
    authorization: {
      from: payment.from,
      to: payment.to,
      value: String(payment.value),
      validAfter: String(payment.validAfter),
      validBefore: String(payment.validBefore),
      nonce: payment.nonce,
    },
  };
  if (payment.version === 1) {
    const network = v1.network as PaymentRequirementsV1['network'];
    const paymentPayload = { x402Version: 1 as const, scheme: v1.scheme, network, payload };
    return { x402Version: 1, paymentPayload, paymentRequirements: { ...v1, network } };
  }
  return {
    x402Version: 2,
    paymentPayload: { x402Version: 2, resource, accepted: v2, payload },
    paymentRequirements: v2,
  };
}

export function remoteFacilitator(
  { url, token }: { url: string; token?: string },
  timeoutMs = TIMEOUT_MS,
): Facilitator {
  async function ask(operation: 'verify' | 'settle', submission: Submission): Promise<Record<string, unknown>> {
    const response = await boundedFetch(
      `${url}/${operation}`,
      {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...(token && { authorization: `Bearer ${token}` }) },
        body: JSON.stringify(submission),
        redirect: 'error',
        signal: AbortSignal.timeout(timeoutMs),
      },
      MOST_BYTES,
    );
    const answer: unknown = await response.json().catch(() => null);
    // Some say no with a status of 400.
    const verdict = operation === 'verify' ? 'isValid' : 'success';
    if (typeof answer === 'object' && answer !== null && verdict in answer) return { ...answer };
    throw new Error(`the facilitator answered ${operation} with ${response.status} and no verdict`);
  }

  return {
    async verify(payment, terms) {
      const { isValid, invalidReason } = await ask('verify', submissionOf(payment, terms));
      return isValid === true ? { ok: true } : { ok: false, reason: String(invalidReason) };
    },
    async settle(payment, terms) {
      const { success, transaction, errorReason } = await ask('settle', submissionOf(payment, terms));
      return success === true ? { ok: true, ...hashOf(transaction) } : { ok: false, reason: String(errorReason) };
    },
  };
}

/** Where it says the transaction is; only a place to look first. */
export function hashOf(transaction: unknown): { txHash?: Buffer } {
  const isHash = typeof transaction === 'string' && /^0x[0-9a-f]{64}$/i.test(transaction);
  return isHash ? { txHash: Buffer.from(transaction.slice(2), 'hex') } : {};
}
