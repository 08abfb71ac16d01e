import { type AccountClosing, closeAccount } from '@eloquentpoll/storage';
import type { AccountsContext } from './context.ts';

type Parts = Pick<AccountsContext, 'storage' | 'bus' | 'keys' | 'log'>;

/**
 * Closes an account for good: once this resolves, no gateway accepts its keys or logins, and none of its results can be
 * read. Workers end its running polls and empty all of them. False when it is already closed or unknown.
 */
export async function closeEverywhere(
  { storage, bus, keys, log }: Parts,
  accountId: string,
  onMoney?: AccountClosing['onMoney'],
): Promise<boolean> {
  const shut = await closeAccount(storage, accountId, {
    ...(onMoney && { onMoney }),
    beforeCommit: (hashes) => keys.forget(hashes),
  });
  if (!shut) return false;
  await Promise.all([
    ...shut.keys.map((hash) => keys.invalidate(hash)),
    // While Redis is away, the sweep enqueues them later.
    ...shut.ended.map(({ id, epoch }) =>
      bus
        .enqueuePoll(id, { round: epoch })
        .catch((error) => log.warn({ poll_id: id, err: error }, 'poll.enqueue_failed')),
    ),
  ]);
  return true;
}
