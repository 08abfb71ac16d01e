import type { CurrentUser } from '@eloquentpoll/contracts';
import { findAccount, findWallet, type Storage } from '@eloquentpoll/storage';

/**
 * Null when there is no such account. The contract requires an e-mail address: an account without one gets a stable
 * address under `.invalid`, a top-level domain reserved by RFC 2606.
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
