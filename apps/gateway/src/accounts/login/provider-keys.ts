import { createRemoteJWKSet, customFetch, errors, type JWTVerifyGetKey } from 'jose';
import { boundedFetch } from '../../http/bounded-fetch.ts';
import { providerAway, REST_MS } from './provider-discovery.ts';

// The keys that the identity provider signs with: kept for ten minutes, asked for again at most every half minute when a
// token names one that is not among them, and not asked for a while after the provider did not answer.

const TIMEOUT_MS = 3_000;

export function providerKeys(uri: string): JWTVerifyGetKey {
  const remote = createRemoteJWKSet(new URL(uri), { timeoutDuration: TIMEOUT_MS, [customFetch]: boundedFetch });
  let restsUntil = 0;
  return async (header, token) => {
    if (performance.now() < restsUntil) throw providerAway();
    try {
      return await remote(header, token);
    } catch (error) {
      if (speaksOfTheToken(error)) throw error;
      restsUntil = performance.now() + REST_MS;
      throw providerAway(error);
    }
  };
}

const speaksOfTheToken = (error: unknown): boolean =>
  error instanceof errors.JWKSNoMatchingKey ||
  error instanceof errors.JWKSMultipleMatchingKeys ||
  error instanceof errors.JOSENotSupported;
