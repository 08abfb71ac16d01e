import { createHash, randomBytes } from 'node:crypto';
import type { AccountsContext } from '../context.ts';

// One try to log in, from leaving for the identity provider until coming back. What the answer has to fit is sealed into
// a cookie of the browser that left, so an answer that arrives in another browser, a second time or too late fits
// nothing.

export const ATTEMPT_COOKIE = 'ep_login';
const LIFE_S = 600;

export interface LoginAttempt {
  state: string;
  nonce: string;
  /** Of PKCE; only its hash leaves before the code is redeemed. */
  verifier: string;
}

export async function beginAttempt({
  attemptSealer,
}: AccountsContext): Promise<{ attempt: LoginAttempt; cookie: string }> {
  const attempt = { state: unguessable(), nonce: unguessable(), verifier: unguessable() };
  const cookie = await attemptSealer.seal(JSON.stringify({ ...attempt, until: Date.now() + LIFE_S * 1_000 }));
  return { attempt, cookie };
}

/** The attempt of a cookie, the first time that it is asked for and while it lasts. */
export async function takeAttempt(context: AccountsContext, cookie: string): Promise<LoginAttempt | null> {
  const content = await context.attemptSealer.open(cookie);
  if (content === null) return null;
  const { until, ...attempt }: LoginAttempt & { until: number } = JSON.parse(content);
  const { redis, prefix } = context.bus;
  if (until < Date.now()) return null;
  // A copied cookie is refused even by a provider that lets a code be redeemed twice.
  const first = await redis.set(`${prefix}:login:{${attempt.state}}`, '', 'EX', LIFE_S, 'NX');
  return first === 'OK' ? attempt : null;
}

export const challengeOf = ({ verifier }: LoginAttempt): string =>
  createHash('sha256').update(verifier).digest('base64url');

const unguessable = (): string => randomBytes(32).toString('base64url');

/** Lax, because the way back from the provider is a navigation that another site began. */
export const attemptCookieOptions = (baseUrl: string) => ({
  path: '/api/auth',
  httpOnly: true,
  sameSite: 'lax' as const,
  secure: baseUrl.startsWith('https:'),
  maxAge: LIFE_S,
});
