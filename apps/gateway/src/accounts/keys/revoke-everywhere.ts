import { inTransaction, keysEndedLately, type Queries } from '@eloquentpoll/storage';
import type { AccountsContext } from '../context.ts';

type Parts = Pick<AccountsContext, 'storage' | 'keys'>;

/**
 * Revokes keys of one account. Once this resolves, no gateway accepts them, nor any of the account that ended moments
 * ago: if a gateway died between its commit and its answer while Redis was away, the caller's retry finds nothing to
 * revoke, but the key may still be cached.
 */
export async function revokeEverywhere<Done extends { accountId: string | null }>(
  { storage, keys }: Parts,
  revoke: (tx: Queries) => Promise<Done>,
): Promise<Done> {
  const { done, hashes } = await inTransaction(storage, async (tx) => {
    const done = await revoke(tx);
    const hashes = done.accountId === null ? [] : await keysEndedLately(tx, done.accountId);
    await keys.forget(hashes);
    return { done, hashes };
  });
  await Promise.all(hashes.map((hash) => keys.invalidate(hash)));
  return done;
}
