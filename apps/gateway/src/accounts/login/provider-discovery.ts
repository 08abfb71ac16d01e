import type { ClientAuth, Configuration, ServerMetadata } from 'openid-client';
import type { ProviderSettings } from '../../config/config.ts';
import { ApiError } from '../../http/api-error.ts';
import { boundedFetch } from '../../http/bounded-fetch.ts';

// What the identity provider says about itself, asked when somebody needs it and not before: the gateway starts while
// the provider is away. Asking ends within seconds; after that nobody asks for a while, so that a provider that is away
// is not asked by every request. What was once learned serves until something newer was.

const FRESH_MS = 3_600_000;
export const REST_MS = 5_000;
const TRIES = 2;
const PAUSE_MS = 250;
const TIMEOUT_S = 3;

export interface Discovery {
  /** Refuses with 503 while nothing is known. */
  configuration(): Promise<Configuration>;
  /** What is known already. */
  known(): ServerMetadata | null;
}

export function providerDiscovery(settings: ProviderSettings, { restMs = REST_MS } = {}): Discovery {
  let known: { configuration: Configuration; at: number } | null = null;
  let asking: Promise<Configuration> | null = null;
  let restsUntil = 0;

  async function ask(): Promise<Configuration> {
    try {
      const configuration = await discover(settings);
      known = { configuration, at: performance.now() };
      return configuration;
    } catch (cause) {
      restsUntil = performance.now() + restMs;
      throw providerAway(cause);
    } finally {
      asking = null;
    }
  }

  return {
    async configuration() {
      const now = performance.now();
      if (known && now - known.at < FRESH_MS) return known.configuration;
      if (now >= restsUntil) asking ??= ask();
      if (!known) return asking ?? Promise.reject(providerAway());
      asking?.catch(() => undefined);
      return known.configuration;
    },
    known: () => known?.configuration.serverMetadata() ?? null,
  };
}

export const providerAway = (cause?: unknown): ApiError =>
  new ApiError('service_unavailable', {
    detail: 'The identity provider does not answer; try again in a few seconds.',
    retryAfterSeconds: REST_MS / 1_000,
    cause,
  });

async function discover({ issuer, clientId, clientSecret }: ProviderSettings): Promise<Configuration> {
  // Loaded by the first login: most gateways that start have nobody to log in yet.
  const client = await import('openid-client');
  const basic = client.ClientSecretBasic(clientSecret);
  const post = client.ClientSecretPost(clientSecret);
  const authenticate: ClientAuth = (server, ...rest) => (takesOnlyPost(server) ? post : basic)(server, ...rest);
  // An ID token is checked by its signature too, though it comes straight from the provider.
  const execute = [client.enableNonRepudiationChecks];
  // Settings allow http on loopback only.
  if (issuer.startsWith('http:')) execute.push(client.allowInsecureRequests);
  const options = { execute, timeout: TIMEOUT_S, [client.customFetch]: boundedFetch };
  for (let tries = 1; ; tries++) {
    try {
      return await client.discovery(new URL(issuer), clientId, undefined, authenticate, options);
    } catch (error) {
      if (tries === TRIES) throw error;
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
    }
  }
}

const takesOnlyPost = ({ token_endpoint_auth_methods_supported: ways = ['client_secret_basic'] }: ServerMetadata) =>
  !ways.includes('client_secret_basic') && ways.includes('client_secret_post');
