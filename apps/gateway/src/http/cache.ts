import { setTimeout as wait } from 'node:timers/promises';
import { ApiError } from './api-error.ts';

// What takes effort to make is made once and kept for a while, however many ask: whoever comes while it is being made
// waits for the same one. What is past its time is made anew; while that fails or takes long, the old one still serves,
// up to an age. A failure is never kept. What is kept is bounded in number and size, the least recently asked for goes.

export interface Keeping<T> {
  /** Makes the thing that this key stands for. It must end. It gets to know when it was made and until when it holds. */
  make(key: string): Promise<(times: Times) => T>;
  freshMs: number;
  /** Up to this age an old one serves while no new one can be made. */
  staleMs: number;
  /** What one weighs, in bytes. */
  sizeOf?(value: T): number;
  mostEntries?: number;
  mostBytes?: number;
  /** How many may be in the making at once. */
  mostMaking?: number;
  /** How long somebody waits for a new one who could have the old one. */
  patienceMs?: number;
  now?(): number;
}

export interface Times {
  madeAt: Date;
  expiresAt: Date;
}

export interface Entry<T> {
  value: T;
  madeAt: number;
  expiresAt: number;
}

interface Stored<T> extends Entry<T> {
  bytes: number;
  /** After a failure nobody tries again before. */
  restsUntil: number;
}

const REST_MS = 10_000;

export function keep<T>(keeping: Keeping<T>): (key: string) => Promise<Entry<T>> {
  const { make, freshMs, staleMs, sizeOf = () => 0, now = Date.now } = keeping;
  const { mostEntries = 200, mostBytes = 32 * 1024 * 1024, mostMaking = 32, patienceMs = 1_500 } = keeping;
  const entries = new Map<string, Stored<T>>();
  const making = new Map<string, Promise<Stored<T>>>();
  let bytes = 0;

  function store(key: string, entry: Stored<T>): void {
    forget(key);
    entries.set(key, entry);
    bytes += entry.bytes;
    for (const oldest of entries.keys()) {
      if (entries.size <= mostEntries && bytes <= mostBytes) break;
      forget(oldest);
    }
  }

  function forget(key: string): void {
    bytes -= entries.get(key)?.bytes ?? 0;
    entries.delete(key);
  }

  async function makeNow(key: string): Promise<Stored<T>> {
    const write = await make(key);
    const madeAt = now();
    const value = write({ madeAt: new Date(madeAt), expiresAt: new Date(madeAt + freshMs) });
    const entry = { value, madeAt, expiresAt: madeAt + freshMs, bytes: sizeOf(value), restsUntil: 0 };
    store(key, entry);
    return entry;
  }

  function begin(key: string): Promise<Stored<T>> {
    const work = makeNow(key).finally(() => making.delete(key));
    making.set(key, work);
    work.catch(() => {
      const old = entries.get(key);
      if (old) old.restsUntil = now() + REST_MS;
    });
    return work;
  }

  return async (key) => {
    const known = entries.get(key);
    if (known && now() < known.expiresAt) {
      // To the end of the line of those that go.
      entries.delete(key);
      entries.set(key, known);
      return known;
    }
    const old = known && now() < known.madeAt + staleMs ? known : null;
    if (old && now() < old.restsUntil) return old;
    const full = !making.has(key) && making.size >= mostMaking;
    if (full && old) return old;
    if (full) throw new ApiError('service_unavailable', { retryAfterSeconds: 1 });
    const work = making.get(key) ?? begin(key);
    if (!old) return work;
    return orElse(work, patienceMs, old);
  };
}

/** What comes of it within this time; otherwise, and when it fails, the other. */
async function orElse<T>(work: Promise<T>, ms: number, other: T): Promise<T> {
  const done = new AbortController();
  try {
    return await Promise.race([work, wait(ms, other, { signal: done.signal })]);
  } catch {
    return other;
  } finally {
    done.abort();
  }
}
