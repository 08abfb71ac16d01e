import type { Context } from '../context.ts';
import { accountOfToken, looksLikeAccessToken } from './login/access-token.ts';
import { readSession } from './login/login-cookie.ts';

/** On whose behalf a request acts, and how it proved that. */
export interface Principal {
  accountId: string;
  via: 'api_key' | 'access_token' | 'session' | 'user_id';
  /** The API key that was presented, by its id. */
  keyId?: string;
  /** The cookie's session. */
  sessionId?: string;
}

/** null for a bearer that opens nothing. Keys and access tokens are told apart by their form, before any look-up. */
export async function principalOfBearer(context: Context, bearer: string): Promise<Principal | null> {
  if (!looksLikeAccessToken(bearer)) return principalOfKey(context, bearer);
  const accountId = await accountOfToken(context, bearer);
  return accountId === null ? null : { accountId, via: 'access_token' };
}

/** null for everything that is not an active key; unknown, revoked and mistyped ones are told apart nowhere. */
export async function principalOfKey(context: Context, key: string): Promise<Principal | null> {
  const hashed = context.hashedKey(key);
  const found = hashed && (await context.keys.find(hashed.hash));
  return found && { ...found, via: 'api_key' };
}

/** null for a cookie that opens nothing any more. */
export async function principalOfCookie(context: Context, cookie: string): Promise<Principal | null> {
  const found = await readSession(context, cookie);
  return found && { ...found, via: 'session' };
}
