import type { CurrentUser } from '@eloquentpoll/contracts';
import { findAccount, findWallet, type Storage } from '@eloquentpoll/storage';

/**
 * Who an account is. The answer has to hold an e-mail address; whoever never gave one gets a name under `invalid`, the
 * domain that is reserved for names which do not exist (RFC 2606), always the same one. null when there is no account.
 */
export async function currentUser(storage: Storage, accountId: string): Promise<CurrentUser | null> {
  const account = await findAccount(storage, accountId);
  if (!account) return null;
  return { userId: account.id, email: account.email ?? (await placeholder(storage, accountId)) };
}

async function placeholder(storage: Storage, accountId: string): Promise<string> {
  const wallet = await findWallet(storage, accountId);
  return wallet ? `0x${wallet.toString('hex')}@wallet.invalid` : `${accountId}@user.invalid`;
}
