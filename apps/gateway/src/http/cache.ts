import { withTimeout } from '@eloquentpoll/ops';
import { ApiError } from './api-error.ts';

// A least-recently-used cache of loaded values with one load per key at a time, however many callers wait. An expired
// entry is still served, up to a maximum age, while its reload fails or is slow. Failures are never cached.

export interface MemoizeOptions<T> {
  /** Must settle. The function that it returns makes the value, given the times of the entry. */
  load(key: string): Promise<(lifetime: Lifetime) => T>;
  freshMs: number;
  /** Maximum age at which an entry is served while it cannot be reloaded. */
  staleMs: number;
  /** Size in bytes. */
  sizeOf?(value: T): number;
  maxEntries?: number;
  maxBytes?: number;
  maxConcurrentLoads?: number;
  /** How long a caller waits for a reload before it gets the stale entry. */
  reloadTimeoutMs?: number;
  now?(): number;
}

export interface Lifetime {
  loadedAt: Date;
  expiresAt: Date;
}

export interface Entry<T> {
  value: T;
  loadedAt: number;
  expiresAt: number;
}

interface StoredEntry<T> extends Entry<T> {
  bytes: number;
  /** After a failed reload, the earliest time of the next. */
  retryAt: number;
}

const RETRY_AFTER_FAILURE_MS = 10_000;

export function memoize<T>(options: MemoizeOptions<T>): (key: string) => Promise<Entry<T>> {
  const { load, freshMs, staleMs, sizeOf = () => 0, now = Date.now } = options;
  const { maxEntries = 200, maxBytes = 32 * 1024 * 1024, maxConcurrentLoads = 32, reloadTimeoutMs = 1_500 } = options;
  const entries = new Map<string, StoredEntry<T>>();
  const loading = new Map<string, Promise<StoredEntry<T>>>();
  let bytes = 0;

  function store(key: string, entry: StoredEntry<T>): void {
    evict(key);
    entries.set(key, entry);
    bytes += entry.bytes;
    for (const oldest of entries.keys()) {
      if (entries.size <= maxEntries && bytes <= maxBytes) break;
      evict(oldest);
    }
  }

  function evict(key: string): void {
    bytes -= entries.get(key)?.bytes ?? 0;
    entries.delete(key);
  }

  async function loadNow(key: string): Promise<StoredEntry<T>> {
    const write = await load(key);
    const loadedAt = now();
    const value = write({ loadedAt: new Date(loadedAt), expiresAt: new Date(loadedAt + freshMs) });
    const entry = { value, loadedAt, expiresAt: loadedAt + freshMs, bytes: sizeOf(value), retryAt: 0 };
    store(key, entry);
    return entry;
  }

  function startLoad(key: string): Promise<StoredEntry<T>> {
    const load = loadNow(key).finally(() => loading.delete(key));
    loading.set(key, load);
    load.catch(() => {
      const stale = entries.get(key);
      if (stale) stale.retryAt = now() + RETRY_AFTER_FAILURE_MS;
    });
    return load;
  }

  return async (key) => {
    const known = entries.get(key);
    if (known && now() < known.expiresAt) {
      // Move the entry to the end, because entries at the start are evicted.
      entries.delete(key);
      entries.set(key, known);
      return known;
    }
    const stale = known && now() < known.loadedAt + staleMs ? known : null;
    if (stale && now() < stale.retryAt) return stale;
    const isFull = !loading.has(key) && loading.size >= maxConcurrentLoads;
    if (isFull && stale) return stale;
    if (isFull) throw new ApiError('service_unavailable', { retryAfterSeconds: 1 });
    const load = loading.get(key) ?? startLoad(key);
    return stale ? withFallback(load, reloadTimeoutMs, stale) : load;
  };
}

/** The value of the promise, or the fallback if the promise fails or is too slow. */
async function withFallback<T>(promise: Promise<T>, timeoutMs: number, fallback: T): Promise<T> {
  try {
    return await withTimeout(promise, timeoutMs);
  } catch {
    return fallback;
  }
}
