import type { Adapter, AdapterPayload } from 'oidc-provider';

// Running logins, sessions, tokens and registered clients, in the memory of this process. When it is full, the oldest
// entry is dropped.

const MAX_ENTRIES = 1_000;

interface Entry {
  model: string;
  id: string;
  payload: AdapterPayload;
  expiresAt: number;
}

/** All models share one bound. */
export function memoryAdapter(): (model: string) => Adapter {
  const entries = new Map<string, Entry>();

  function forget(isOver: (entry: Entry) => boolean): void {
    for (const [key, entry] of entries) if (isOver(entry)) entries.delete(key);
  }

  return (model) => {
    const keyOf = (id: string): string => `${model}:${id}`;
    const search = (matches: (payload: AdapterPayload) => boolean): AdapterPayload | undefined => {
      for (const entry of entries.values())
        if (entry.model === model && entry.expiresAt > Date.now() && matches(entry.payload)) return entry.payload;
      return undefined;
    };
    return {
      async upsert(id, payload, expiresIn) {
        const expiresAt = expiresIn === undefined ? Number.POSITIVE_INFINITY : Date.now() + expiresIn * 1_000;
        entries.delete(keyOf(id));
        entries.set(keyOf(id), { model, id, payload, expiresAt });
        if (entries.size > MAX_ENTRIES) forget((entry) => entry.expiresAt <= Date.now());
        if (entries.size > MAX_ENTRIES) entries.delete(entries.keys().next().value!);
      },
      async find(id) {
        const entry = entries.get(keyOf(id));
        return entry && entry.expiresAt > Date.now() ? entry.payload : undefined;
      },
      findByUid: async (uid) => search((payload) => payload.uid === uid),
      findByUserCode: async (userCode) => search((payload) => payload.userCode === userCode),
      async consume(id) {
        const entry = entries.get(keyOf(id));
        if (entry) entry.payload.consumed = Math.floor(Date.now() / 1_000);
      },
      destroy: async (id) => void entries.delete(keyOf(id)),
      revokeByGrantId: async (grantId) => forget((entry) => entry.model === model && entry.payload.grantId === grantId),
    };
  };
}
