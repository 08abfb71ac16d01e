import { canonicalSignature } from '../../accounts/wallets/signer.ts';
import { ApiError } from '../../http/api-error.ts';
import { uncleanIn } from '../../http/validation/text-rules.ts';

// Parses a payment header into canonical values, so that the same payment in another spelling is not a second payment.
// A malformed payment is a 400; validate-payment.ts checks the rest.

/** A signed transfer authorization (EIP-3009) in canonical form: lower-case hexadecimal, plain integers. */
export interface Payment {
  version: 1 | 2;
  scheme: string;
  network: string;
  /** The terms that the payer accepted; version 2 only. */
  accepted: { asset: string; payTo: string; amount: string } | null;
  from: `0x${string}`;
  to: `0x${string}`;
  value: bigint;
  validAfter: bigint;
  validBefore: bigint;
  nonce: `0x${string}`;
  signature: `0x${string}`;
}

const MAX_HEADER_LENGTH = 8 * 1_024;
const MAX_UINT256 = 2n ** 256n - 1n;

export async function readPayment(header: string): Promise<Payment> {
  if (header.length > MAX_HEADER_LENGTH) throw unreadable(`longer than ${MAX_HEADER_LENGTH} characters`);
  const json = parseJson(header);
  if (uncleanIn(json)) throw unreadable('text that is none');
  const { parsePaymentPayload } = await import('@x402/core/schemas');
  const { success, data } = parsePaymentPayload(json);
  if (!success) throw unreadable('not a payment of x402 version 1 or 2');
  const { signature, authorization } = data.payload;
  const signed = members(authorization);
  const terms = data.x402Version === 1 ? data : data.accepted;
  return {
    version: data.x402Version,
    scheme: terms.scheme,
    network: terms.network,
    accepted: data.x402Version === 1 ? null : { ...data.accepted },
    from: hex(signed.from, 20, 'from'),
    to: hex(signed.to, 20, 'to'),
    value: integer(signed.value, 'value'),
    validAfter: integer(signed.validAfter, 'validAfter'),
    validBefore: integer(signed.validBefore, 'validBefore'),
    nonce: hex(signed.nonce, 32, 'nonce'),
    signature: readSignature(signature),
  };
}

function parseJson(header: string): unknown {
  if (!/^[A-Za-z0-9+/_-]+={0,2}$/.test(header)) throw unreadable('not base64');
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(Buffer.from(header, 'base64')));
  } catch {
    throw unreadable('not JSON in base64');
  }
}

const members = (value: unknown): Record<string, unknown> =>
  typeof value === 'object' && value !== null ? { ...value } : {};

function hex(value: unknown, bytes: number, name: string): `0x${string}` {
  if (typeof value !== 'string' || !/^0x[0-9a-f]+$/i.test(value) || value.length !== 2 + bytes * 2) {
    throw unreadable(`${name} is not ${bytes} bytes as 0x-prefixed hexadecimal`);
  }
  return `0x${value.slice(2).toLowerCase()}`;
}

function integer(value: unknown, name: string): bigint {
  const number = typeof value === 'string' && /^\d{1,78}$/.test(value) ? BigInt(value) : MAX_UINT256 + 1n;
  if (number > MAX_UINT256) throw unreadable(`${name} is not a decimal integer in a string`);
  return number;
}

/** Keeps a signature that is not canonical; validation refuses it. */
function readSignature(signature: unknown): `0x${string}` {
  if (typeof signature !== 'string' || !/^0x[0-9a-f]*$/i.test(signature)) {
    throw unreadable('signature is not 0x-prefixed hexadecimal');
  }
  return (canonicalSignature(signature) ?? signature.toLowerCase()) as `0x${string}`;
}

const unreadable = (why: string): ApiError =>
  new ApiError('invalid_payment', { detail: `The payment header cannot be read: ${why}.` });
