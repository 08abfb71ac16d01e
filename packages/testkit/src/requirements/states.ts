import type { RequirementRow } from './row.ts';

/** Section 3: states and transitions. */
export const STATES: readonly RequirementRow[] = [
  ['§3.1-success', 'a poll result can be a success'],
  ['§3.1-partial', 'a poll result can be partial'],
  ['§3.1-failed', 'a poll result can be failed'],
  ['§3.2-create-202', 'creating a session answers 202 with its id, status and both URLs'],
  ['§3.2-running-202', 'the result of a running session answers 202'],
  ['§3.2-completed-200', 'the result of a completed session answers 200 with the result'],
  ['§3.2-failed-422', 'the result of a failed session answers 422'],
  ['§3.2-terminal', 'a session that ended never changes its status'],
  ['§3.3-create', 'a new key is active and its plaintext is shown once'],
  ['§3.3-create-authenticated', 'only an authenticated caller creates keys'],
  ['§3.3-revoke', 'revoking an own active key answers revoked true'],
  ['§3.3-revoke-stops-auth', 'a revoked key authenticates no more'],
  ['§3.3-revoke-foreign', "another caller's key cannot be revoked"],
  ['§3.3-revoke-again-404', 'revoking a revoked key answers 404'],
  ['§3.3-rotate-revokes-all', "rotating revokes all active keys of the wallet's account"],
  ['§3.3-rotate-issues-key', 'rotating issues one new key and says how many were revoked'],
  ['§3.3-wallet-revoke-one', 'a wallet signature revokes one key'],
];
