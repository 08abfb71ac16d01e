import type { RegistryListing } from '@eloquentpoll/models/registry';

/**
 * The number of models in a listing: the registry's own figure; otherwise the number of distinct models in its rows, if
 * the listing is complete and each row names its model; otherwise null.
 */
export function modelCountOf({ modelCount, count, variants }: RegistryListing, limit: number | null): number | null {
  if (modelCount !== null) return modelCount;
  const cutShort = (limit !== null && variants.length >= limit) || (count !== null && count > variants.length);
  if (cutShort) return null;
  const models = new Set(variants.map((row) => row.model ?? row.model_id));
  return [...models].every((model) => typeof model === 'string') ? models.size : null;
}
