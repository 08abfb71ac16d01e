import type { ClientAuth, Configuration, ServerMetadata } from 'openid-client';
import type { ProviderSettings } from '../../config/config.ts';
import { ApiError } from '../../http/api-error.ts';
import { boundedFetch } from '../../http/bounded-fetch.ts';

// Fetches the provider's discovery document on first use, so that the gateway starts without the provider. After a
// failed fetch there is a cooldown. A stale document is served while a newer one is fetched.

const FRESH_MS = 3_600_000;
export const COOLDOWN_MS = 5_000;
const MAX_ATTEMPTS = 2;
const PAUSE_MS = 250;
const TIMEOUT_S = 3;

export interface Discovery {
  /** Throws a 503 while no document has been fetched. */
  configuration(): Promise<Configuration>;
}

export function providerDiscovery(settings: ProviderSettings, { cooldownMs = COOLDOWN_MS } = {}): Discovery {
  let cached: { configuration: Configuration; at: number } | null = null;
  let inFlight: Promise<Configuration> | null = null;
  let cooldownUntil = 0;

  async function fetchConfiguration(): Promise<Configuration> {
    try {
      const configuration = await discover(settings);
      cached = { configuration, at: performance.now() };
      return configuration;
    } catch (cause) {
      cooldownUntil = performance.now() + cooldownMs;
      throw providerUnavailable(cause);
    } finally {
      inFlight = null;
    }
  }

  return {
    async configuration() {
      const now = performance.now();
      if (cached && now - cached.at < FRESH_MS) return cached.configuration;
      if (now >= cooldownUntil) inFlight ??= fetchConfiguration();
      if (!cached) return inFlight ?? Promise.reject(providerUnavailable());
      inFlight?.catch(() => undefined);
      return cached.configuration;
    },
  };
}

export const providerUnavailable = (cause?: unknown): ApiError =>
  new ApiError('service_unavailable', {
    detail: 'The identity provider does not answer; try again in a few seconds.',
    retryAfterSeconds: COOLDOWN_MS / 1_000,
    cause,
  });

async function discover({ issuer, clientId, clientSecret }: ProviderSettings): Promise<Configuration> {
  // Loaded at the first login, to keep startup short.
  const client = await import('openid-client');
  const basic = client.ClientSecretBasic(clientSecret);
  const post = client.ClientSecretPost(clientSecret);
  const authenticate: ClientAuth = (server, ...rest) => (takesOnlyPost(server) ? post : basic)(server, ...rest);
  // Also verify the ID token's signature, although it comes directly from the token endpoint.
  const execute = [client.enableNonRepudiationChecks];
  // The settings allow http only on loopback.
  if (issuer.startsWith('http:')) execute.push(client.allowInsecureRequests);
  const options = { execute, timeout: TIMEOUT_S, [client.customFetch]: boundedFetch };
  for (let attempt = 1; ; attempt++) {
    try {
      return await client.discovery(new URL(issuer), clientId, undefined, authenticate, options);
    } catch (error) {
      if (attempt === MAX_ATTEMPTS) throw error;
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
    }
  }
}

const takesOnlyPost = ({ token_endpoint_auth_methods_supported: methods = ['client_secret_basic'] }: ServerMetadata) =>
  !methods.includes('client_secret_basic') && methods.includes('client_secret_post');
