import { ApiError } from '../http/api-error.ts';

export const accountFrozen = (): ApiError =>
  new ApiError('account_frozen', { detail: 'This account is frozen; write to the operator of this service.' });

/** Refuses keys, logins and tokens of an account that an operator has frozen. */
export function requireOpen<T extends { isFrozen: boolean }>(owner: T): T {
  if (owner.isFrozen) throw accountFrozen();
  return owner;
}
