import { createHash, hkdfSync } from 'node:crypto';
import { endCookieSession, findCookieSession, openCookieSession } from '@eloquentpoll/storage';
import { CompactEncrypt, compactDecrypt } from 'jose';
import type { AccountsContext } from '../context.ts';

// The cookie of people who are logged in. It carries the id of a row and nothing else, sealed as JWE (direct key,
// A256GCM) by jose: pure JavaScript, where libsodium would be a native module, and the purpose is part of what is
// authenticated. The row decides whether it still opens anything.

export const COOKIE = 'ep_session';
export const COOKIE_LIFE_S = 7 * 24 * 3_600;

/** The longest that we seal makes about 500 characters; nobody else's cookie is worth decrypting. */
const LONGEST = 1_024;

export interface Sealer {
  seal(content: string): Promise<string>;
  open(cookie: string): Promise<string | null>;
}

interface Key {
  kid: string;
  secret: Uint8Array;
}

/**
 * Seals with the first secret and opens with any, so that secrets can be rotated. What was sealed for one purpose opens
 * for no other: the purpose is authenticated, and part of the key.
 */
export function sealer(secrets: readonly string[], purpose: string = COOKIE): Sealer {
  const keys = secrets.map((secret) => keyOf(secret, purpose));
  const [newest] = keys;
  if (!newest) throw new Error('a cookie needs a secret');
  return {
    seal: (content) =>
      new CompactEncrypt(new TextEncoder().encode(content))
        .setProtectedHeader({ alg: 'dir', enc: 'A256GCM', kid: newest.kid, typ: purpose })
        .encrypt(newest.secret),
    async open(cookie) {
      if (cookie.length > LONGEST) return null;
      try {
        const { plaintext } = await compactDecrypt(
          cookie,
          ({ kid, typ }) => {
            const key = keys.find((known) => known.kid === kid);
            if (!key || typ !== purpose) throw new Error('not ours');
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

export interface CookiePrincipal {
  accountId: string;
  sessionId: string;
}

/** Whose cookie it is; null for everything that opens nothing. */
export async function readSession(context: AccountsContext, cookie: string): Promise<CookiePrincipal | null> {
  const id = await context.sealer.open(cookie);
  const session = id === null ? null : await findCookieSession(context.storage, id);
  return session && { accountId: session.accountId, sessionId: session.id };
}

/** The value of a fresh cookie: every login gets a session of its own. */
export async function beginSession(
  context: AccountsContext,
  account: { accountId: string; identityId?: string | null },
): Promise<string> {
  return context.sealer.seal(await openCookieSession(context.storage, account));
}

export const endSession = (context: AccountsContext, sessionId: string): Promise<void> =>
  endCookieSession(context.storage, sessionId);

/** Attributes of the cookie: the browser keeps it from scripts and from other sites' requests. */
export const cookieOptions = (baseUrl: string) => ({
  path: '/',
  httpOnly: true,
  sameSite: 'lax' as const,
  secure: baseUrl.startsWith('https:'),
  maxAge: COOKIE_LIFE_S,
});
