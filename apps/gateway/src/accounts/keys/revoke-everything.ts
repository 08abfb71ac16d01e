import type { KeysRevocation } from '@eloquentpoll/contracts';
import { closeLogins, inTransaction, revokeAllKeys } from '@eloquentpoll/storage';
import type { AccountsContext } from '../context.ts';

/** Ends all keys and logins of an account. Once this resolves, no gateway accepts any of them. */
export async function revokeEverything({ storage, keys }: AccountsContext, accountId: string): Promise<KeysRevocation> {
  const { hashes, loginsEnded } = await inTransaction(storage, async (tx) => {
    const hashes = await revokeAllKeys(tx, accountId);
    const loginsEnded = await closeLogins(tx, accountId);
    await keys.forget(hashes);
    return { hashes, loginsEnded };
  });
  await Promise.all(hashes.map((hash) => keys.invalidate(hash)));
  return { revoked_count: hashes.length, logins_ended: loginsEnded };
}
