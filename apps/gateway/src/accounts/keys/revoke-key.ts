import { revokeKey } from '@eloquentpoll/storage';
import type { AccountsContext } from '../context.ts';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** Whether a text can be the id of a key; Postgres takes no other for one. */
export const isKeyId = (text: string): boolean => UUID.test(text);

/** Ends a key of the account. Once this resolves no replica accepts it; false when there was no such active key. */
export async function endKey({ storage, keys }: AccountsContext, accountId: string, keyId: string): Promise<boolean> {
  const hash = await revokeKey(storage, accountId, keyId);
  if (!hash) return false;
  await keys.distrust(hash);
  return true;
}
