import { createHash, randomBytes } from 'node:crypto';
import { storageTime } from '@eloquentpoll/storage';
import type { AccountsContext } from '../context.ts';
import { fromRedis } from './from-redis.ts';
import { nextPageOf } from './next-page.ts';

// State, nonce and PKCE verifier of a login in progress, sealed into a cookie: a callback in another browser, twice or
// after 10 minutes does not match. Postgres' clock counts, because the callback may reach another gateway.

export const ATTEMPT_COOKIE = 'ep_login';
const LIFETIME_S = 600;

export interface LoginAttempt {
  state: string;
  nonce: string;
  /** PKCE code verifier; the provider sees only its hash before the code is redeemed. */
  verifier: string;
  /** Our page to open after the login; null for the dashboard. */
  next: string | null;
}

export async function createAttempt(
  { attemptSealer, storage }: AccountsContext,
  next: string | null,
): Promise<{ attempt: LoginAttempt; cookie: string }> {
  const attempt = { state: randomToken(), nonce: randomToken(), verifier: randomToken(), next };
  const until = (await storageTime(storage)) + LIFETIME_S * 1_000;
  const cookie = await attemptSealer.seal(JSON.stringify({ ...attempt, until }));
  return { attempt, cookie };
}

/** Returns the attempt of a cookie once; null if it was consumed before or has expired. */
export async function consumeAttempt(context: AccountsContext, cookie: string): Promise<LoginAttempt | null> {
  const content = await context.attemptSealer.open(cookie);
  if (content === null) return null;
  const attempt = readAttempt(content, await storageTime(context.storage));
  if (!attempt) return null;
  const { redis, prefix } = context.bus;
  // Refuses a copied cookie even if the provider would redeem the code twice.
  const first = await fromRedis(redis.set(`${prefix}:login:{${attempt.state}}`, '', 'EX', LIFETIME_S, 'NX'));
  return first === 'OK' ? attempt : null;
}

/** Null when it has expired, or when another release sealed it in another format. */
function readAttempt(content: string, now: number): LoginAttempt | null {
  const { state, nonce, verifier, next, until } = Object(JSON.parse(content)) as Record<string, unknown>;
  if (typeof state !== 'string' || typeof nonce !== 'string' || typeof verifier !== 'string') return null;
  if (typeof until !== 'number' || until < now) return null;
  return { state, nonce, verifier, next: nextPageOf(typeof next === 'string' ? next : undefined) };
}

export const challengeOf = ({ verifier }: LoginAttempt): string =>
  createHash('sha256').update(verifier).digest('base64url');

const randomToken = (): string => randomBytes(32).toString('base64url');

/** SameSite=Lax, because the callback is a cross-site top-level navigation. */
export const attemptCookieOptions = (baseUrl: string) => ({
  path: '/api/auth',
  httpOnly: true,
  sameSite: 'lax' as const,
  secure: baseUrl.startsWith('https:'),
  maxAge: LIFETIME_S,
});
