import type { ErrorCode, PaymentTerms } from '@eloquentpoll/contracts';
import type { PaymentRequirements } from '@x402/core/types';
import type { DepositSettings } from '../../config/payment-settings.ts';
import { ApiError } from '../../http/api-error.ts';

// Payment requirements of both x402 versions, built from our settings and the requested amount, never from a payment.

export const DEPOSIT_PATH = '/api/deposit';
/** How long a signed payment is valid, counted from the signature. */
const MAX_TIMEOUT_S = 300;

export interface Terms {
  amountU: bigint;
  v1: PaymentTerms;
  v2: PaymentRequirements;
  resource: { url: string; description: string; mimeType: string };
}

/** The token's EIP-712 domain. */
export interface TokenDomain {
  name: string;
  version: string;
}

export function termsFor(
  { network, chainId, asset, payTo }: DepositSettings,
  token: TokenDomain,
  amountU: bigint,
  baseUrl: string,
): Terms {
  const dollars = `${amountU / 1_000_000n}.${String((amountU / 10_000n) % 100n).padStart(2, '0')}`;
  const resource = {
    url: `${baseUrl}${DEPOSIT_PATH}`,
    description: `Deposit ${dollars} USD`,
    mimeType: 'application/json',
  };
  const common = { scheme: 'exact' as const, asset, payTo, maxTimeoutSeconds: MAX_TIMEOUT_S, extra: { ...token } };
  return {
    amountU,
    resource,
    v1: {
      ...common,
      network,
      maxAmountRequired: String(amountU),
      resource: resource.url,
      description: resource.description,
      mimeType: resource.mimeType,
    },
    v2: { ...common, network: `eip155:${chainId}`, amount: String(amountU) },
  };
}

/** How to call the operation, for facilitators that list payable resources (x402 v2, extension bazaar). */
const BAZAAR = {
  info: {
    input: { type: 'http', method: 'POST', bodyType: 'json', body: { amount_usd: 5 } },
    output: { type: 'json', example: { amount_usd: 5, amount_cents: 500, is_new_user: true, api_key: 'ep_k_...' } },
  },
  schema: {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    type: 'object',
    properties: {
      input: {
        type: 'object',
        properties: {
          type: { type: 'string', const: 'http' },
          method: { type: 'string', enum: ['POST'] },
          bodyType: { type: 'string', enum: ['json'] },
          body: {
            type: 'object',
            properties: { amount_usd: { type: 'number', minimum: 1, maximum: 1_000 } },
            required: ['amount_usd'],
          },
        },
        required: ['type', 'method', 'bodyType', 'body'],
        additionalProperties: false,
      },
      output: {
        type: 'object',
        properties: { type: { type: 'string' }, example: { type: 'object' } },
        required: ['type'],
      },
    },
    required: ['input'],
  },
};

/** A 402 with the terms: in the body for version 1, in a header for version 2. */
export async function paymentRequired(terms: Terms, code: ErrorCode, detail?: string): Promise<ApiError> {
  const { encodePaymentRequiredHeader } = await import('@x402/core/http');
  const header = {
    x402Version: 2,
    error: code,
    resource: terms.resource,
    accepts: [terms.v2],
    extensions: { bazaar: BAZAAR },
  };
  return new ApiError(code, {
    ...(detail !== undefined && { detail }),
    members: { x402Version: 1, accepts: [terms.v1] },
    headers: { 'PAYMENT-REQUIRED': encodePaymentRequiredHeader(header) },
  });
}
