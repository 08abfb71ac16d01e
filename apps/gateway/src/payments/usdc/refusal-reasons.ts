import type { ErrorCode } from '@eloquentpoll/contracts';

// What a facilitator says when it refuses a payment: a code, or in version 1 of x402 also the text of the node. Such a
// text can contain addresses and keys, and names amounts, networks and signatures that are not what is wrong.

/** The code that a reason is or begins with, such as `insufficient_funds`; empty for a text. */
const codeIn = (reason: string): string => /^[a-z0-9]+(_[a-z0-9]+)+|^[a-z]+$/.exec(reason.slice(0, 200))?.[0] ?? '';

const REASONS: readonly [RegExp, ErrorCode][] = [
  [/insufficient_(funds|balance)/, 'payment_insufficient_funds'],
  [/valid_after/, 'payment_not_yet_valid'],
  [/valid_before|expired/, 'payment_expired'],
  [/nonce_already_used|already_(used|settled)/, 'payment_already_used'],
  [/signature/, 'payment_invalid_signature'],
  [/recipient/, 'payment_payee_mismatch'],
  [/network|asset|token/, 'payment_network_mismatch'],
  [/value|amount/, 'payment_amount_mismatch'],
];

export const codeOfReason = (reason: string, otherwise: ErrorCode): ErrorCode =>
  REASONS.find(([pattern]) => pattern.test(codeIn(reason)))?.[1] ?? otherwise;

/** The part of a reason that may be logged. */
export const loggedReason = (reason: string): string => /^[a-z_]{1,60}/.exec(reason)?.[0] ?? 'a text';

/** Names of an error and its causes, which may be logged, unlike their messages. */
export function errorNames(error: unknown): string[] {
  const names: string[] = [];
  for (let cause = error; cause instanceof Error && names.length < 10; { cause } = cause) names.push(cause.name);
  return names.filter((name) => /^[A-Za-z]{1,60}$/.test(name));
}
