import { changeKey, inTransaction, listKeys } from '@eloquentpoll/storage';
import type { AccountsContext } from '../context.ts';
import { type IssuedKey, issueKey } from './issue-key.ts';

/**
 * A key with the name and terms of another, which goes on working for so long, or until it would have expired. Null when
 * the account has no such active key.
 */
export async function rotateKey(
  { config, storage, keys }: AccountsContext,
  { accountId, keyId, overlapMs }: { accountId: string; keyId: string; overlapMs: number },
): Promise<{ issued: IssuedKey; oldPrefix: string; oldUntil: Date } | null> {
  const rotated = await inTransaction(storage, async (tx) => {
    const old = (await listKeys(tx, accountId)).find(({ id }) => id === keyId);
    if (!old) return null;
    const end = new Date(Date.now() + overlapMs);
    const oldUntil = old.expiresAt && old.expiresAt < end ? old.expiresAt : end;
    const changed = await changeKey(tx, { accountId, keyId }, { expiresAt: oldUntil });
    if (!changed) return null;
    const issued = await issueKey(config, tx, {
      accountId,
      label: old.label,
      expiresAt: old.expiresAt ?? undefined,
      isReadOnly: old.isReadOnly,
      limit: old.limit ? { limitU: old.limit.limitU, reset: old.limit.reset } : undefined,
    });
    return { issued, oldPrefix: old.prefix, oldUntil, hash: changed.hash };
  });
  if (!rotated) return null;
  await keys.invalidate(rotated.hash);
  return rotated;
}
