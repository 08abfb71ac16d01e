// A map that is bounded by the bytes of its values. What was not asked for longest is dropped first.

export interface BoundedLru<V> {
  get(key: string): V | undefined;
  /** Replaces a value of the same key. A value that is larger than the whole bound is not kept, and drops nothing. */
  set(key: string, value: V, bytes: number): void;
  delete(key: string): void;
}

/** Memory per entry in addition to its value. */
const ENTRY_BYTES = 1_024;

export function boundedLru<V>(maxBytes: number): BoundedLru<V> {
  const entries = new Map<string, { value: V; bytes: number }>();
  let sum = 0;

  function remove(key: string): void {
    sum -= entries.get(key)?.bytes ?? 0;
    entries.delete(key);
  }

  return {
    get(key) {
      const entry = entries.get(key);
      if (entry === undefined) return undefined;
      // Move it to the end, because entries at the start are dropped first.
      entries.delete(key);
      entries.set(key, entry);
      return entry.value;
    },
    set(key, value, valueBytes) {
      remove(key);
      const bytes = valueBytes + ENTRY_BYTES;
      if (bytes > maxBytes) return;
      entries.set(key, { value, bytes });
      sum += bytes;
      for (const oldest of entries.keys()) {
        if (sum <= maxBytes) break;
        remove(oldest);
      }
    },
    delete: remove,
  };
}
