import type { Migration } from './migration.ts';

// Only keys that are not revoked are looked up: a revoked one in the same steps as one that never was.
export const keyHashes: Migration = {
  name: '0021-key-hashes',
  sql: () => `
create unique index api_keys_hash on api_keys (hash) where revoked_at is null;
alter table api_keys drop constraint api_keys_hash_key;
`,
};
