import { type Storage, touchKeys } from '@eloquentpoll/storage';
import type { Logger } from '../../config/log.ts';

// Collects the ids of used keys and writes their last_used_at in one statement every few seconds, and on shutdown. A
// crash loses the last few seconds.

const FLUSH_EVERY_MS = 10_000;
/** Keys beyond this limit are noted at their next use. */
const MAX_KEYS = 10_000;

export interface KeyUsage extends AsyncDisposable {
  note(keyId: string): void;
  flush(): Promise<void>;
}

export function keyUsage(storage: Storage, log: Logger, flushEveryMs = FLUSH_EVERY_MS): KeyUsage {
  let used = new Set<string>();

  const note = (keyId: string): void => {
    if (used.size < MAX_KEYS) used.add(keyId);
  };

  async function flush(): Promise<void> {
    if (used.size === 0) return;
    const batch = used;
    used = new Set();
    try {
      await touchKeys(storage, [...batch]);
    } catch (error) {
      log.warn({ err: error, key_count: batch.size }, 'key_usage.flush_failed');
      for (const keyId of batch) note(keyId);
    }
  }

  const timer = setInterval(() => void flush(), flushEveryMs).unref();
  return {
    note,
    flush,
    async [Symbol.asyncDispose]() {
      clearInterval(timer);
      await flush();
    },
  };
}
