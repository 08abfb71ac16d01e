import type { KeysRevocation } from '@eloquentpoll/contracts';
import { closeLogins, revokeAllKeys } from '@eloquentpoll/storage';
import type { AccountsContext } from '../context.ts';
import { revokeEverywhere } from './revoke-everywhere.ts';

/** Ends all keys and logins of an account. Once this resolves, no gateway accepts any of them. */
export async function revokeEverything(
  context: Pick<AccountsContext, 'storage' | 'keys'>,
  accountId: string,
): Promise<KeysRevocation> {
  const { revoked, loginsEnded } = await revokeEverywhere(context, async (tx) => ({
    accountId,
    revoked: await revokeAllKeys(tx, accountId),
    loginsEnded: await closeLogins(tx, accountId),
  }));
  return { revoked_count: revoked.length, logins_ended: loginsEnded };
}
