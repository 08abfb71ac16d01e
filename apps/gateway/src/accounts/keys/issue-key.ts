import { type ApiKey, insertKey, type Queries } from '@eloquentpoll/storage';
import type { Config } from '../../config/config.ts';
import { apiKeyPrefix, hashApiKey, newApiKey } from './api-key.ts';

export interface IssuedKey extends ApiKey {
  /** The plaintext, which is never stored. */
  key: string;
}

export const KEY_SHOWN_ONCE = 'Store this key now. It will not be shown again.';

/** Creates a key of the account. If `queries` is a transaction, the key is valid once that commits. */
export async function issueKey(
  { keyPepper }: Config,
  queries: Queries,
  { accountId, label }: { accountId: string; label: string },
): Promise<IssuedKey> {
  const key = newApiKey();
  const hash = hashApiKey(keyPepper, key);
  return { key, ...(await insertKey(queries, { accountId, hash, prefix: apiKeyPrefix(key), label })) };
}
