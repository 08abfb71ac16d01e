import { revokeKey } from '@eloquentpoll/storage';
import type { Context } from '../context.ts';

/** Ends a key of the account. Once this resolves no replica accepts it; false when there was no such active key. */
export async function endKey({ storage, keys }: Context, accountId: string, keyId: string): Promise<boolean> {
  const hash = await revokeKey(storage, accountId, keyId);
  if (!hash) return false;
  await keys.distrust(hash);
  return true;
}
