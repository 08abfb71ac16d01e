import type { NewKey } from '@eloquentpoll/contracts';
import {
  findOwnKeyByHash,
  insertKey,
  inTransaction,
  isCredentialOpen,
  type KeyLimitTerms,
  MAX_ACTIVE_KEYS,
  type PresentedCredential,
  type Queries,
  type StoredApiKey,
  TooManyKeys,
} from '@eloquentpoll/storage';
import type { Config } from '../../config/config.ts';
import { ApiError } from '../../http/api-error.ts';
import type { AccountsContext } from '../context.ts';
import { apiKeyPrefix, drawOfForm, hashApiKey, newApiKey } from './api-key.ts';
import { toKeyTerms } from './to-wire.ts';

export interface IssuedKey extends StoredApiKey {
  /** The plaintext, which is never stored. */
  key: string;
  /** A first submission of the same form made this key. */
  isRepeat: boolean;
}

export const KEY_SHOWN_ONCE = 'Store this key now. It will not be shown again.';

const TOO_MANY = `An account has at most ${MAX_ACTIVE_KEYS} active keys: revoke one with DELETE /api/keys/{keyId}, or all with DELETE /api/keys.`;

interface KeyTerms {
  accountId: string;
  label: string;
  expiresAt?: Date | undefined;
  isReadOnly?: boolean | undefined;
  limit?: KeyLimitTerms | undefined;
  /** The random id of a form: if it is sent twice, one key is made, and both answers contain it. */
  formId?: string | undefined;
}

/** Creates a key inside the caller's transaction; the key is valid once that commits. */
export async function issueKey(config: Config, tx: Queries, terms: KeyTerms): Promise<IssuedKey> {
  const made = await madeByForm(config, tx, terms);
  if (made) return made;
  const { key, hash } = drawKey(config, terms);
  try {
    return { key, isRepeat: false, ...(await insertKey(tx, { ...terms, hash, prefix: apiKeyPrefix(key) })) };
  } catch (error) {
    throw error instanceof TooManyKeys ? new ApiError('key_limit_reached', { detail: TOO_MANY }) : error;
  }
}

/** The key from an earlier submission of the same form. Locks the account's row until the transaction ends. */
export async function madeByForm(config: Config, tx: Queries, terms: FormOfKey): Promise<IssuedKey | null> {
  if (terms.formId === undefined) return null;
  const { key, hash } = drawKey(config, terms);
  const made = await findOwnKeyByHash(tx, terms.accountId, hash);
  return made && { key, isRepeat: true, ...made };
}

type FormOfKey = Pick<KeyTerms, 'accountId' | 'formId'>;

function drawKey({ cell, keyPepper }: Config, { accountId, formId }: FormOfKey) {
  const draw = formId === undefined ? undefined : drawOfForm(keyPepper, { accountId, formId });
  const key = newApiKey({ cell, accountId, draw });
  return { key, hash: hashApiKey(keyPepper, key) };
}

/** The key in the form of an answer, with its plaintext. */
export const toNewKey = (issued: IssuedKey): NewKey => ({
  id: issued.id,
  key: issued.key,
  key_prefix: issued.prefix,
  ...toKeyTerms(issued),
  created_at: issued.createdAt.toISOString(),
  warning: KEY_SHOWN_ONCE,
});

/**
 * Creates a key for the caller with credential `by`. If that was revoked meanwhile, throws the error of `refusal`, so
 * that a stolen credential cannot make a key while all others are revoked.
 */
export const createKey = (
  { config, storage }: AccountsContext,
  terms: KeyTerms,
  by: PresentedCredential,
  refusal = (): ApiError => new ApiError('authentication_required'),
): Promise<IssuedKey> =>
  inTransaction(storage, async (tx) => {
    const issued = await issueKey(config, tx, terms);
    // The account's row is locked now: a call that revokes everything has either committed, or will find the new key.
    if (!(await isCredentialOpen(tx, terms.accountId, by))) throw refusal();
    return issued;
  });
