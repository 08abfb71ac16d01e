import { type ModelListing, type ModelsQuery, registryQuery } from '@eloquentpoll/contracts';
import type { Registry, RegistryListing } from '@eloquentpoll/models/registry';
import type { Logger } from '../../config/log.ts';
import { ApiError } from '../../http/api-error.ts';
import { type Entry, type Lifetime, memoize } from '../../http/cache.ts';
import { modelCountOf } from './model-count.ts';

// The registry's listings, cached for an hour. The cache key is the upstream query, so no other part of a request can
// create or change an entry. The complete listing has a separate cache, so that filtered ones cannot evict it, and it
// answers filters by values that none of its rows has.

const FRESH_MS = 3_600_000;
const TIMES = { freshMs: FRESH_MS, staleMs: 24 * FRESH_MS };

/** Resolves to the response body. */
export type ModelListings = (query: ModelsQuery) => Promise<Entry<string>>;

export function modelListings(registry: Registry, log: Logger, now: () => number = Date.now): ModelListings {
  let whole: KnownRows | null = null;

  const request = (parameters: URLSearchParams): Promise<RegistryListing> =>
    registry.list(parameters).catch((cause) => {
      log.warn({ err: cause }, 'model_registry.request_failed');
      throw new ApiError('upstream_registry_error', { cause });
    });

  const all = memoize<string>({
    ...TIMES,
    load: async () => {
      const found = await request(new URLSearchParams());
      whole = { variants: found.variants, isComplete: isComplete(found), loadedAt: now() };
      return (lifetime) => envelope(found, modelCountOf(found, null), lifetime);
    },
    now,
  });

  const filtered = memoize<string>({
    ...TIMES,
    load: async (key) => {
      const parameters = new URLSearchParams(key);
      const found = await request(parameters);
      // Fetch the complete listing, so that it can answer the next filter without rows.
      if (found.variants.length === 0) all('').catch(() => undefined);
      const limit = parameters.has('limit') ? Number(parameters.get('limit')) : null;
      return (lifetime) => envelope(found, modelCountOf(found, limit), lifetime);
    },
    sizeOf: (text) => 2 * text.length,
    now,
  });

  return async (query) => {
    const key = String(registryQuery(query));
    if (key === '') return all('');
    if (!whole || now() - whole.loadedAt >= FRESH_MS || !isWithoutRows(whole, query)) return filtered(key);
    const { loadedAt } = whole;
    const expiresAt = loadedAt + FRESH_MS;
    return { value: envelope(NO_ROWS, 0, lifetimeOf(loadedAt, expiresAt)), loadedAt, expiresAt };
  };
}

interface KnownRows {
  variants: RegistryListing['variants'];
  isComplete: boolean;
  loadedAt: number;
}

const NO_ROWS: Pick<RegistryListing, 'variants'> = { variants: [] };
const FILTERS = ['org', 'country', 'source', 'config_key'] as const;

const isComplete = ({ count, variants }: RegistryListing): boolean => count === null || count <= variants.length;

const lifetimeOf = (loadedAt: number, expiresAt: number): Lifetime => ({
  loadedAt: new Date(loadedAt),
  expiresAt: new Date(expiresAt),
});

/** Whether a filter's value occurs in no row. If a row lacks the field, only the registry can decide. */
function isWithoutRows({ variants, isComplete }: KnownRows, query: ModelsQuery): boolean {
  return (
    isComplete &&
    FILTERS.some((name) => {
      const wanted = query[name]?.toLowerCase();
      return wanted !== undefined && variants.every(({ [name]: value }) => isOther(value, wanted));
    })
  );
}

const isOther = (value: unknown, wanted: string): boolean =>
  typeof value === 'string' && value.toLowerCase() !== wanted;

function envelope(
  { variants }: Pick<RegistryListing, 'variants'>,
  modelCount: number | null,
  { loadedAt, expiresAt }: Lifetime,
): string {
  const listing: ModelListing = {
    fetched_at: loadedAt.toISOString(),
    cache_expires_at: expiresAt.toISOString(),
    count: variants.length,
    model_count: modelCount,
    variants,
  };
  return JSON.stringify(listing);
}
