import type { PaymentPayload, PaymentPayloadV1, PaymentRequirements, PaymentRequirementsV1 } from '@x402/core/types';
import { boundedFetch } from '../../http/bounded-fetch.ts';
import type { Payment } from './read-payment.ts';
import type { Terms } from './terms.ts';

// An x402 facilitator verifies payments and submits them to the chain. The client is our own, because that of
// @x402/core follows redirects, does not limit response sizes and prints parts of responses.

/** `reason` is matched against known reasons and never shown to the caller. */
export type FacilitatorVerdict = { ok: true; txHash?: Buffer } | { ok: false; reason: string };

/** Both throw when the outcome is unknown. */
export interface Facilitator {
  verify(payment: Payment, terms: Terms): Promise<FacilitatorVerdict>;
  settle(payment: Payment, terms: Terms): Promise<FacilitatorVerdict>;
}

const TIMEOUT_MS = 10_000;
const MAX_RESPONSE_BYTES = 64 * 1_024;

export type FacilitatorRequest =
  | {
      x402Version: 1;
      paymentPayload: PaymentPayloadV1;
      paymentRequirements: Omit<PaymentRequirementsV1, 'outputSchema'>;
    }
  | { x402Version: 2; paymentPayload: PaymentPayload; paymentRequirements: PaymentRequirements };

/** Built from the parsed payment, so that nothing unparsed is forwarded. */
export function facilitatorRequest(payment: Payment, { v1, v2, resource }: Terms): FacilitatorRequest {
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
  async function ask(operation: 'verify' | 'settle', request: FacilitatorRequest): Promise<Record<string, unknown>> {
    const response = await boundedFetch(
      `${url}/${operation}`,
      {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...(token && { authorization: `Bearer ${token}` }) },
        body: JSON.stringify(request),
        redirect: 'error',
        signal: AbortSignal.timeout(timeoutMs),
      },
      MAX_RESPONSE_BYTES,
    );
    const answer: unknown = await response.json().catch(() => null);
    // Some facilitators reject with status 400 and put the verdict into the body.
    const verdict = operation === 'verify' ? 'isValid' : 'success';
    if (typeof answer === 'object' && answer !== null && verdict in answer) return { ...answer };
    throw new Error(`the facilitator answered ${operation} with ${response.status} and no verdict`);
  }

  return {
    async verify(payment, terms) {
      const { isValid, invalidReason } = await ask('verify', facilitatorRequest(payment, terms));
      return isValid === true ? { ok: true } : { ok: false, reason: String(invalidReason) };
    },
    async settle(payment, terms) {
      const { success, transaction, errorReason } = await ask('settle', facilitatorRequest(payment, terms));
      return success === true ? { ok: true, ...hashOf(transaction) } : { ok: false, reason: String(errorReason) };
    },
  };
}

/** The transaction hash that a facilitator reports; not verified. */
export function hashOf(transaction: unknown): { txHash?: Buffer } {
  const isHash = typeof transaction === 'string' && /^0x[0-9a-f]{64}$/i.test(transaction);
  return isHash ? { txHash: Buffer.from(transaction.slice(2), 'hex') } : {};
}
