import { MODELS_PARAMETERS, type ModelListing, type ModelsQuery } from '@eloquentpoll/contracts';
import type { Registry } from '@eloquentpoll/models/registry';
import type { Logger } from '../../config/log.ts';
import { ApiError } from '../../http/api-error.ts';
import { type Entry, memoize } from '../../http/cache.ts';
import { modelCountOf } from './model-count.ts';

// The registry's listings as we serve them, each kept for an hour. What tells two of them apart is what goes upstream,
// in one order: nothing else of a request can make a second one, or get into one.

const FRESH_MS = 3_600_000;
const STALE_MS = 24 * FRESH_MS;

/** The envelope, as JSON. */
export type ModelListings = (query: ModelsQuery) => Promise<Entry<string>>;

export function modelListings(registry: Registry, log: Logger, now: () => number = Date.now): ModelListings {
  const listing = memoize<string>({
    load: async (key) => {
      const parameters = new URLSearchParams(key);
      const found = await registry.list(parameters).catch((cause) => {
        log.warn({ err: cause }, 'model registry');
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

/** Only what the registry is asked with; whatever else came along is left out. */
function upstream(query: ModelsQuery): URLSearchParams {
  const parameters = new URLSearchParams();
  for (const name of MODELS_PARAMETERS) if (query[name] !== undefined) parameters.set(name, String(query[name]));
  return parameters;
}
