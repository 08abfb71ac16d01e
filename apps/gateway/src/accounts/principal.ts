import type { Principal } from '../http/access.ts';
import type { AccountsContext } from './context.ts';
import { accountOfToken, looksLikeAccessToken } from './login/access-token.ts';
import { readLogin } from './login/login-cookie.ts';

/** null for a bearer that opens nothing. Keys and access tokens are told apart by their form, before any look-up. */
export async function principalOfBearer(context: AccountsContext, bearer: string): Promise<Principal | null> {
  if (!looksLikeAccessToken(bearer)) return principalOfKey(context, bearer);
  const accountId = await accountOfToken(context, bearer);
  return accountId === null ? null : { accountId, via: 'access_token' };
}

/** null for everything that is not an active key: unknown, revoked and mistyped keys get the same answer. */
export async function principalOfKey(context: AccountsContext, key: string): Promise<Principal | null> {
  const hashed = context.hashedKey(key);
  const found = hashed && (await context.keys.find(hashed.hash));
  return found && { ...found, via: 'api_key' };
}

export async function principalOfCookie(context: AccountsContext, cookie: string): Promise<Principal | null> {
  const found = await readLogin(context, cookie);
  return found && { ...found, via: 'login' };
}
