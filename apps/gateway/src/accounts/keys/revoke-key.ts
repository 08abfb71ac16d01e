import { revokeKey } from '@eloquentpoll/storage';
import type { AccountsContext } from '../context.ts';
import { revokeEverywhere } from './revoke-everywhere.ts';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** Other text would cause an error in Postgres, whose column is of type uuid. */
export const isKeyId = (text: string): boolean => UUID.test(text);

/** Once this resolves, no gateway accepts the key. False when the account has no such active key. */
export async function revokeKeyEverywhere(
  context: Pick<AccountsContext, 'storage' | 'keys'>,
  accountId: string,
  keyId: string,
): Promise<boolean> {
  const { isRevoked } = await revokeEverywhere(context, async (tx) => ({
    accountId,
    isRevoked: await revokeKey(tx, accountId, keyId),
  }));
  return isRevoked;
}
