import { createLocalJWKSet, createRemoteJWKSet, customFetch, errors, type JWTVerifyGetKey } from 'jose';
import { ApiError } from '../../http/api-error.ts';
import { boundedFetch } from '../../http/bounded-fetch.ts';
import { COOLDOWN_MS, providerUnavailable } from './provider-discovery.ts';

// jose caches the JWKS for ten minutes and refetches it for an unknown `kid` at most every half minute. We add a
// cooldown after a fetch that failed; while it lasts, tokens signed with known keys are still accepted.

const TIMEOUT_MS = 3_000;

/** The provider does not answer, and the token names a key that was not fetched before. */
export class UnfetchedKey extends ApiError {
  constructor(cause?: unknown) {
    const { code, circumstances } = providerUnavailable(cause);
    super(code, circumstances);
  }
}

export function providerKeys(uri: string): JWTVerifyGetKey {
  const remote = createRemoteJWKSet(new URL(uri), { timeoutDuration: TIMEOUT_MS, [customFetch]: boundedFetch });
  let cooldownUntil = 0;
  let known: ReturnType<typeof createLocalJWKSet> | null = null;
  return async (header, token) => {
    if (performance.now() < cooldownUntil) {
      if (!known || !remote.fresh) throw providerUnavailable();
      return known(header, token).catch((error: unknown) => {
        throw error instanceof errors.JWKSNoMatchingKey ? new UnfetchedKey(error) : error;
      });
    }
    try {
      return await remote(header, token);
    } catch (error) {
      if (isTokenError(error)) throw error;
      const jwks = remote.jwks();
      known = jwks ? createLocalJWKSet(jwks) : null;
      cooldownUntil = performance.now() + COOLDOWN_MS;
      // jose refetches keys that are still fresh only for a token whose key is not among them.
      throw remote.fresh ? new UnfetchedKey(error) : providerUnavailable(error);
    }
  };
}

const isTokenError = (error: unknown): boolean =>
  error instanceof errors.JWKSNoMatchingKey ||
  error instanceof errors.JWKSMultipleMatchingKeys ||
  error instanceof errors.JOSENotSupported;
