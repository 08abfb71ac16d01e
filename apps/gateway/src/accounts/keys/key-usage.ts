import { type Storage, touchKeys } from '@eloquentpoll/storage';
import type { Logger } from '../../config/log.ts';

// When keys were last used, without a write per request: their ids gather here and are noted all at once every few
// seconds, and once more at the end. A crash loses the last seconds of it, and nobody's request waits for it.

const EVERY_MS = 10_000;
/** Many more than one process serves in that time; a key beyond them is noted at its next use. */
const MOST_KEYS = 10_000;

export interface KeyUsage extends AsyncDisposable {
  note(keyId: string): void;
  flush(): Promise<void>;
}

export function keyUsage(storage: Storage, log: Logger, everyMs = EVERY_MS): KeyUsage {
  let used = new Set<string>();

  const note = (keyId: string): void => {
    if (used.size < MOST_KEYS) used.add(keyId);
  };

  async function flush(): Promise<void> {
    if (used.size === 0) return;
    const noted = used;
    used = new Set();
    try {
      await touchKeys(storage, [...noted]);
    } catch (error) {
      log.warn({ err: error, keys: noted.size }, 'use of keys not noted');
      for (const keyId of noted) note(keyId);
    }
  }

  const timer = setInterval(() => void flush(), everyMs).unref();
  return {
    note,
    flush,
    async [Symbol.asyncDispose]() {
      clearInterval(timer);
      await flush();
    },
  };
}
