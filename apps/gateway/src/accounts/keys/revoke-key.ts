import { inTransaction, revokeKey } from '@eloquentpoll/storage';
import type { AccountsContext } from '../context.ts';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** Other text would cause an error in Postgres, whose column is of type uuid. */
export const isKeyId = (text: string): boolean => UUID.test(text);

/** Once this resolves, no gateway accepts the key. False when the account has no such active key. */
export async function revokeKeyEverywhere(
  { storage, keys }: AccountsContext,
  accountId: string,
  keyId: string,
): Promise<boolean> {
  const hash = await inTransaction(storage, async (tx) => {
    const revoked = await revokeKey(tx, accountId, keyId);
    if (revoked) await keys.forget([revoked]);
    return revoked;
  });
  if (!hash) return false;
  await keys.invalidate(hash);
  return true;
}
