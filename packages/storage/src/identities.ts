import { createAccount } from './accounts.ts';
import { StorageRefused } from './errors.ts';
import type { Queries, Storage } from './open-storage.ts';
import { inTransaction } from './transaction.ts';

// Ways to prove who you are, each pointing at one account. A person is (issuer, subject), never an e-mail address; a
// wallet is its 20 bytes, whatever its spelling.

export type Identity =
  | { kind: 'oidc'; issuer: string; subject: string; email?: string | undefined }
  | { kind: 'wallet'; address: Buffer };

export interface KnownIdentity {
  identityId: string;
  accountId: string;
}

export async function findIdentity({ db }: Queries, identity: Identity): Promise<KnownIdentity | null> {
  const all = db.selectFrom('identities').select(['id', 'account_id']).where('kind', '=', identity.kind);
  const row = await (identity.kind === 'wallet'
    ? all.where('address', '=', identity.address)
    : all.where('issuer', '=', identity.issuer).where('subject', '=', identity.subject)
  ).executeTakeFirst();
  return row ? { identityId: row.id, accountId: row.account_id } : null;
}

/** The account of an identity, opened when nobody has used it yet. Racing first uses open one account. */
export async function admitIdentity(
  storage: Storage,
  identity: Identity,
): Promise<KnownIdentity & { isNewAccount: boolean }> {
  const known = await findIdentity(storage, identity);
  if (known) return { ...known, isNewAccount: false };
  try {
    const opened = await inTransaction(storage, async (tx) => {
      const accountId = await createAccount(tx, identity.kind === 'oidc' ? { email: identity.email } : {});
      const row = await tx.db
        .insertInto('identities')
        .values({
          account_id: accountId,
          kind: identity.kind,
          issuer: identity.kind === 'oidc' ? identity.issuer : null,
          subject: identity.kind === 'oidc' ? identity.subject : null,
          address: identity.kind === 'wallet' ? identity.address : null,
        })
        .returning('id')
        .executeTakeFirstOrThrow();
      return { identityId: row.id, accountId };
    });
    return { ...opened, isNewAccount: true };
  } catch (error) {
    const winner = lostRace(error) ? await findIdentity(storage, identity) : null;
    if (!winner) throw error;
    return { ...winner, isNewAccount: false };
  }
}

const lostRace = (error: unknown) =>
  error instanceof StorageRefused && /^identities_(oidc|wallet)$/.test(error.constraint ?? '');
