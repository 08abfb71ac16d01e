import { randomUUID } from 'node:crypto';
import { apiKeyPrefix, hashApiKey, newApiKey } from '@eloquentpoll/gateway/api-key';
import { LOCAL_EMAIL, subjectOf } from '@eloquentpoll/identity-provider/people';
import {
  admitIdentity,
  balanceOf,
  createAccount,
  creditAccount,
  findAccount,
  findKeyByHash,
  type Identity,
  insertKey,
  linkIdentity,
  openStorage,
  type Storage,
} from '@eloquentpoll/storage';

// The local account: one per database of a clone, funded once, with a key that later starts print again. Logging in at
// the local identity provider with the suggested address opens the same account. If the account is deleted or the key
// revoked, the next start creates a new one.

export interface LocalAccount {
  accountId: string;
  apiKey: string;
}

const GIFT_U = 25_000_000n;

export async function seedLocalAccount(
  databaseUrl: string,
  pepper: string,
  known: Partial<LocalAccount>,
  issuer?: string,
): Promise<LocalAccount & { balanceU: bigint }> {
  await using storage = openStorage({ databaseUrl, maxConnections: 2, connectTimeoutMs: 10_000 });
  const person = issuer ? ({ kind: 'oidc', issuer, subject: subjectOf(LOCAL_EMAIL) } as const) : null;
  const accountId = await account(storage, known.accountId, person);
  await creditAccount(storage, { accountId, amountU: GIFT_U, source: 'operator', idem: `local:${accountId}` });
  const apiKey = await key(storage, pepper, accountId, known.apiKey);
  const balance = await balanceOf(storage, accountId);
  return { accountId, apiKey, balanceU: balance?.availableU ?? 0n };
}

/** A person has only one account, so an existing account of the signed-in person is used. */
async function account(storage: Storage, known: string | undefined, person: Identity | null): Promise<string> {
  const isThere = known !== undefined && (await findAccount(storage, known)) !== null;
  if (!person) return isThere ? known : createAccount(storage, { id: randomUUID() });
  if (isThere && (await linkIdentity(storage, known, person))) return known;
  return (await admitIdentity(storage, person)).accountId;
}

async function key(storage: Storage, pepper: string, accountId: string, known: string | undefined): Promise<string> {
  if (known) {
    const owner = await findKeyByHash(storage, hashApiKey(pepper, known));
    if (owner?.accountId === accountId) return known;
  }
  const fresh = newApiKey({ accountId });
  await insertKey(storage, {
    accountId,
    hash: hashApiKey(pepper, fresh),
    prefix: apiKeyPrefix(fresh),
    label: 'local',
  });
  return fresh;
}
