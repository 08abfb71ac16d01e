import type { ErrorCode } from '@eloquentpoll/contracts';
import { signerOfHash } from '../../accounts/wallets/signer.ts';
import type { DepositSettings } from '../../config/payment-settings.ts';
import type { Payment } from './read-payment.ts';
import type { Terms } from './terms.ts';

// Validates a payment against our own terms, before the facilitator and independently of it. The time window is checked
// by Postgres, whose clock all gateways share.

type Rule = (payment: Payment, terms: Terms, settings: DepositSettings) => boolean | Promise<boolean>;

/** Checked in this order; the first violated rule determines the error. */
const RULES: readonly [Rule, ErrorCode][] = [
  [({ scheme }) => scheme === 'exact', 'payment_verification_failed'],
  [({ version, network }, { v1, v2 }) => network === (version === 1 ? v1 : v2).network, 'payment_network_mismatch'],
  [({ accepted }, { v2 }) => !accepted || same(accepted.asset, v2.asset), 'payment_network_mismatch'],
  [({ accepted }, { v2 }) => !accepted || same(accepted.payTo, v2.payTo), 'payment_payee_mismatch'],
  [({ accepted }, { v2 }) => !accepted || accepted.amount === v2.amount, 'payment_amount_mismatch'],
  [({ to }, { v2 }) => same(to, v2.payTo), 'payment_payee_mismatch'],
  // Equal, not at least: an overpayment would not be credited in full.
  [({ value }, { amountU }) => value === amountU, 'payment_amount_mismatch'],
  [isSignedByPayer, 'payment_invalid_signature'],
];

export async function validatePayment(
  payment: Payment,
  terms: Terms,
  settings: DepositSettings,
): Promise<ErrorCode | null> {
  for (const [holds, code] of RULES) if (!(await holds(payment, terms, settings))) return code;
  return null;
}

const same = (a: string, b: string): boolean => a.toLowerCase() === b.toLowerCase();

const TYPES = {
  TransferWithAuthorization: [
    { name: 'from', type: 'address' },
    { name: 'to', type: 'address' },
    { name: 'value', type: 'uint256' },
    { name: 'validAfter', type: 'uint256' },
    { name: 'validBefore', type: 'uint256' },
    { name: 'nonce', type: 'bytes32' },
  ],
};

async function isSignedByPayer(payment: Payment, { v1 }: Terms, { chainId, asset }: DepositSettings): Promise<boolean> {
  const { getAddress, TypedDataEncoder } = await import('ethers');
  const { from, to, value, validAfter, validBefore, nonce, signature } = payment;
  const domain = { ...v1.extra, chainId, verifyingContract: asset };
  const hash = TypedDataEncoder.hash(domain, TYPES, { from, to, value, validAfter, validBefore, nonce });
  return (await signerOfHash(hash, signature)) === getAddress(from);
}
