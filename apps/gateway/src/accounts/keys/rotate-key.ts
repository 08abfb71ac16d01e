import { changeKey, listKeys, type Queries } from '@eloquentpoll/storage';
import type { AccountsContext } from '../context.ts';
import { type IssuedKey, issueKey, madeByForm } from './issue-key.ts';
import { revokeEverywhere } from './revoke-everywhere.ts';

interface Rotation {
  accountId: string;
  keyId: string;
  overlapMs: number;
  formId?: string | undefined;
}

interface Rotated {
  issued: IssuedKey;
  oldPrefix: string;
  oldUntil: Date;
}

/**
 * Makes a key with the name and terms of another. The old key works on for `overlapMs`, or until it expires anyway.
 * Null when the account has no such active key. The same form sent again changes nothing and returns the same key.
 */
export async function rotateKey(context: AccountsContext, rotation: Rotation): Promise<Rotated | null> {
  const { accountId } = rotation;
  const { rotated } = await revokeEverywhere(context, async (tx) => ({
    accountId,
    rotated: await rotate(context, tx, rotation),
  }));
  // A key that works on has another end.
  if (rotated?.hash) await context.keys.invalidate(rotated.hash);
  return rotated;
}

/** `hash`: of the old key, if this request changed its end. */
async function rotate(
  { config }: AccountsContext,
  tx: Queries,
  { accountId, keyId, overlapMs, formId }: Rotation,
): Promise<(Rotated & { hash: Buffer | null }) | null> {
  const ofForm = { accountId, formId: formId && `${formId} ${keyId}` };
  // Must come first: it waits for a submission of the same form that is in progress.
  const made = await madeByForm(config, tx, ofForm);
  const old = (await listKeys(tx, accountId)).find(({ id }) => id === keyId);
  if (!old) return null;
  const end = new Date(Date.now() + overlapMs);
  if (made) return { issued: made, oldPrefix: old.prefix, oldUntil: old.expiresAt ?? end, hash: null };
  const oldUntil = old.expiresAt && old.expiresAt < end ? old.expiresAt : end;
  const changed = await changeKey(tx, { accountId, keyId }, { expiresAt: oldUntil });
  if (!changed) return null;
  const issued = await issueKey(config, tx, {
    ...ofForm,
    label: old.label,
    expiresAt: old.expiresAt ?? undefined,
    isReadOnly: old.isReadOnly,
    limit: old.limit ? { limitU: old.limit.limitU, reset: old.limit.reset } : undefined,
  });
  return { issued, oldPrefix: old.prefix, oldUntil, hash: changed.hash };
}
