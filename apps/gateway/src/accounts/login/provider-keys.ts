import { createRemoteJWKSet, customFetch, errors, type JWTVerifyGetKey } from 'jose';
import { boundedFetch } from '../../http/bounded-fetch.ts';
import { COOLDOWN_MS, providerUnavailable } from './provider-discovery.ts';

// jose caches the JWKS for ten minutes and refetches it for an unknown `kid` at most every half minute. We add a
// cooldown after the provider did not answer.

const TIMEOUT_MS = 3_000;

export function providerKeys(uri: string): JWTVerifyGetKey {
  const remote = createRemoteJWKSet(new URL(uri), { timeoutDuration: TIMEOUT_MS, [customFetch]: boundedFetch });
  let cooldownUntil = 0;
  return async (header, token) => {
    if (performance.now() < cooldownUntil) throw providerUnavailable();
    try {
      return await remote(header, token);
    } catch (error) {
      if (isTokenError(error)) throw error;
      cooldownUntil = performance.now() + COOLDOWN_MS;
      throw providerUnavailable(error);
    }
  };
}

const isTokenError = (error: unknown): boolean =>
  error instanceof errors.JWKSNoMatchingKey ||
  error instanceof errors.JWKSMultipleMatchingKeys ||
  error instanceof errors.JOSENotSupported;
