import type { RegistryListing } from '@eloquentpoll/models/registry';

/**
 * How many models a listing speaks of: what the registry says; else the distinct models of its rows, when they are all
 * there and each names its model; else nobody knows.
 */
export function modelCountOf({ modelCount, count, variants }: RegistryListing, limit: number | null): number | null {
  if (modelCount !== null) return modelCount;
  const cutShort = (limit !== null && variants.length >= limit) || (count !== null && count > variants.length);
  if (cutShort) return null;
  const models = new Set(variants.map((row) => row.model ?? row.model_id));
  return [...models].every((model) => typeof model === 'string') ? models.size : null;
}
