import { nameOfKey, refuseMovedName } from '@eloquentpoll/storage';
import type { Principal } from '../http/access.ts';
import type { AccountsContext } from './context.ts';
import { requireOpen } from './frozen.ts';
import type { KeyOwner } from './keys/cached-owner.ts';
import { nameOfHash } from './keys/hashed-key.ts';
import { looksLikeAccessToken, principalOfToken } from './login/access-token.ts';
import { readLogin } from './login/login-cookie.ts';
import { UnfetchedKey } from './login/provider-keys.ts';

/** Null for an invalid bearer. Keys and access tokens are distinguished by their format, before any look-up. */
export async function principalOfBearer(
  context: AccountsContext,
  bearer: string,
  network: string,
  opensAccount = true,
): Promise<Principal | null> {
  if (!looksLikeAccessToken(bearer)) return principalOfKey(context, bearer, network);
  // Checking a signature needs no query, so a valid token is never refused because of its network's failures.
  try {
    const principal = await principalOfToken(context, bearer, opensAccount);
    if (!principal) await context.failures.count(network);
    return principal;
  } catch (error) {
    if (error instanceof UnfetchedKey) await context.failures.count(network);
    throw error;
  }
}

/** Null for everything that is not an active key: unknown, revoked and mistyped keys get the same answer. */
export async function principalOfKey(
  context: AccountsContext,
  key: string,
  network: string,
): Promise<Principal | null> {
  const hashed = context.hashedKey(key);
  if (!hashed) return null;
  let owner: KeyOwner | null = null;
  try {
    owner = await ownerOfKey(context, hashed.hash, network);
    return owner && ofKey(owner);
  } finally {
    // Calls with invalid or read-only keys must not draw from the account's budgets.
    hashed.lately = owner?.isReadOnly === false ? owner : undefined;
  }
}

export const ofKey = ({ accountId, keyId, isReadOnly, isRestricted }: KeyOwner): Principal => ({
  accountId,
  keyId,
  via: 'api_key',
  isReadOnly,
  isRestricted,
});

export async function ownerOfKey(
  { keys, failures, storage }: AccountsContext,
  hash: Buffer,
  network: string,
): Promise<KeyOwner | null> {
  const name = nameOfHash(hash);
  const owner = await keys.find(hash, (ask) =>
    failures.lookUp(network, name, async () => {
      const found = await ask();
      if (!found) await refuseMovedName(storage, nameOfKey(hash));
      return found;
    }),
  );
  if (owner) failures.noteGood(name);
  return owner && requireOpen(owner);
}

export async function principalOfCookie(context: AccountsContext, cookie: string): Promise<Principal | null> {
  const found = await readLogin(context, cookie);
  if (!found) return null;
  const { accountId, loginId } = requireOpen(found);
  return { accountId, loginId, via: 'login' };
}
