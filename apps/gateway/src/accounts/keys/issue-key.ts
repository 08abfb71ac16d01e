import { type ApiKey, insertKey, type Queries } from '@eloquentpoll/storage';
import type { Config } from '../../config/config.ts';
import { apiKeyPrefix, hashApiKey, newApiKey } from './api-key.ts';

export interface IssuedKey extends ApiKey {
  /** The whole key, which exists in the answer to its owner only. */
  key: string;
}

/** Goes with every whole key. */
export const SHOWN_ONCE = 'Store this key now. It will not be shown again.';

/** A new key of the account; where `queries` is a transaction, it counts once that is committed. */
export async function issueKey(
  { keyPepper }: Config,
  queries: Queries,
  { accountId, label }: { accountId: string; label: string },
): Promise<IssuedKey> {
  const key = newApiKey();
  const hash = hashApiKey(keyPepper, key);
  return { key, ...(await insertKey(queries, { accountId, hash, prefix: apiKeyPrefix(key), label })) };
}
