import { MODELS_PARAMETERS, type ModelListing, type ModelsQuery } from '@eloquentpoll/contracts';
import type { Registry } from '@eloquentpoll/models/registry';
import type { Logger } from '../../config/log.ts';
import { ApiError } from '../../http/api-error.ts';
import { type Entry, memoize } from '../../http/cache.ts';
import { modelCountOf } from './model-count.ts';

// Listings of the registry, cached for an hour. The cache key is the upstream query, so no other part of a request can
// create or change an entry.

const FRESH_MS = 3_600_000;
const STALE_MS = 24 * FRESH_MS;

/** Resolves to the response body. */
export type ModelListings = (query: ModelsQuery) => Promise<Entry<string>>;

export function modelListings(registry: Registry, log: Logger, now: () => number = Date.now): ModelListings {
  const listing = memoize<string>({
    load: async (key) => {
      const parameters = new URLSearchParams(key);
      const found = await registry.list(parameters).catch((cause) => {
        log.warn({ err: cause }, 'model_registry.request_failed');
        throw new ApiError('upstream_registry_error', { cause });
      });
      const modelCount = modelCountOf(found, parameters.has('limit') ? Number(parameters.get('limit')) : null);
      return ({ loadedAt, expiresAt }) => {
        const envelope: ModelListing = {
          fetched_at: loadedAt.toISOString(),
          cache_expires_at: expiresAt.toISOString(),
          count: found.variants.length,
          model_count: modelCount,
          variants: found.variants,
        };
        return JSON.stringify(envelope);
      };
    },
    freshMs: FRESH_MS,
    staleMs: STALE_MS,
    sizeOf: (text) => 2 * text.length,
    now,
  });
  return (query) => listing(String(upstream(query)));
}

/** The known parameters in a fixed order, as the cache key and the upstream query. */
function upstream(query: ModelsQuery): URLSearchParams {
  const parameters = new URLSearchParams();
  for (const name of MODELS_PARAMETERS) if (query[name] !== undefined) parameters.set(name, String(query[name]));
  return parameters;
}
