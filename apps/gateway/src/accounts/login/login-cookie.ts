import { createHash, hkdfSync } from 'node:crypto';
import { routeOf } from '@eloquentpoll/polls';
import { closeLogin, findLogin, insertLogin, refuseMovedLogin } from '@eloquentpoll/storage';
import type { FastifyReply } from 'fastify';
import { CompactEncrypt, compactDecrypt } from 'jose';
import type { Config } from '../../config/config.ts';
import type { AccountsContext } from '../context.ts';

// The cookie of a signed-in browser: the id of a login's row, sealed as JWE (direct key, A256GCM) with jose, which is
// pure JavaScript, whereas libsodium is a native module. The row decides whether the login is still valid.

export const LOGIN_COOKIE = 'ep_session';
/** Shows a router, which cannot open the login cookie, where the account is. No gateway reads it. */
const ROUTE_COOKIE = 'ep_route';
const LIFETIME_S = 7 * 24 * 3_600;

/** The longest content that we seal makes about 500 characters. */
const MAX_COOKIE_LENGTH = 1_024;

export interface Sealer {
  seal(content: string): Promise<string>;
  open(cookie: string): Promise<string | null>;
}

interface Key {
  kid: string;
  secret: Uint8Array;
}

/** Seals with the first secret and opens with any of them, for rotation. Keys are derived per purpose (HKDF). */
export function sealer(secrets: readonly string[], purpose: string = LOGIN_COOKIE): Sealer {
  const keys = secrets.map((secret) => keyOf(secret, purpose));
  const [newest] = keys;
  if (!newest) throw new Error('sealer needs at least one secret');
  return {
    seal: (content) =>
      new CompactEncrypt(new TextEncoder().encode(content))
        .setProtectedHeader({ alg: 'dir', enc: 'A256GCM', kid: newest.kid, typ: purpose })
        .encrypt(newest.secret),
    async open(cookie) {
      if (cookie.length > MAX_COOKIE_LENGTH) return null;
      try {
        const { plaintext } = await compactDecrypt(
          cookie,
          ({ kid, typ }) => {
            const key = keys.find((known) => known.kid === kid);
            if (!key || typ !== purpose) throw new Error('unknown kid or typ');
            return key.secret;
          },
          { keyManagementAlgorithms: ['dir'], contentEncryptionAlgorithms: ['A256GCM'] },
        );
        return new TextDecoder().decode(plaintext);
      } catch {
        return null;
      }
    },
  };
}

function keyOf(secret: string, purpose: string): Key {
  const derived = new Uint8Array(hkdfSync('sha256', secret, '', purpose, 32));
  return { kid: createHash('sha256').update(derived).digest('base64url').slice(0, 8), secret: derived };
}

export interface Login {
  accountId: string;
  loginId: string;
  isFrozen: boolean;
}

/** Null for a forged cookie, and for a login that has ended, expired or been idle too long. */
export async function readLogin(context: AccountsContext, cookie: string): Promise<Login | null> {
  const id = await context.sealer.open(cookie);
  const found = id === null ? null : await findLogin(context.storage, id);
  if (id !== null && !found) await refuseMovedLogin(context.storage, id);
  return found && { accountId: found.accountId, loginId: found.id, isFrozen: found.isFrozen };
}

/** Stores a new login and returns the value of its cookie. */
export async function createLogin(
  context: AccountsContext,
  account: { accountId: string; identityId?: string | null },
): Promise<string> {
  return context.sealer.seal(await insertLogin(context.storage, account));
}

export const endLogin = (context: AccountsContext, loginId: string): Promise<void> =>
  closeLogin(context.storage, loginId);

export const setLoginCookies = (
  reply: FastifyReply,
  { cell, baseUrl }: Pick<Config, 'cell' | 'baseUrl'>,
  { accountId, cookie }: { accountId: string; cookie: string },
): FastifyReply =>
  reply
    .setCookie(LOGIN_COOKIE, cookie, loginCookieOptions(baseUrl))
    .setCookie(ROUTE_COOKIE, routeOf(cell, accountId), loginCookieOptions(baseUrl));

/** For a browser whose account is in another cell, where it has to log in. */
export const setRouteCookie = (reply: FastifyReply, baseUrl: string, cell: string): FastifyReply =>
  reply.setCookie(ROUTE_COOKIE, cell, loginCookieOptions(baseUrl));

export const clearLoginCookies = (reply: FastifyReply, baseUrl: string): FastifyReply =>
  reply.clearCookie(LOGIN_COOKIE, loginCookieOptions(baseUrl)).clearCookie(ROUTE_COOKIE, loginCookieOptions(baseUrl));

export const loginCookieOptions = (baseUrl: string) => ({
  path: '/',
  httpOnly: true,
  sameSite: 'lax' as const,
  secure: baseUrl.startsWith('https:'),
  maxAge: LIFETIME_S,
});
