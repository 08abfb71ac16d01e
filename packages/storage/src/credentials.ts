import { sql } from 'kysely';
import type { Queries } from './open-storage.ts';

/** What a caller was authenticated with. Neither is set for an access token, which only ends by expiring. */
export interface PresentedCredential {
  loginId?: string | undefined;
  keyId?: string | undefined;
}

/**
 * Whether an accepted credential is still valid and its account neither frozen nor closed. In a transaction that has
 * locked the account this cannot change, except that a single login or key may be ended.
 */
export async function isCredentialOpen({ db }: Queries, accountId: string, by: PresentedCredential): Promise<boolean> {
  const [loginId, keyId] = [by.loginId ?? null, by.keyId ?? null];
  const { rows } = await sql`
    select from accounts a
     where id = ${accountId} and deleted_at is null and frozen_at is null
       and (${loginId}::uuid is null or exists (
             select from logins
              where id = ${loginId} and account_id = a.id and ended_at is null and expires_at > clock_timestamp()))
       and (${keyId}::uuid is null or exists (
             select from api_keys
              where id = ${keyId} and account_id = a.id and revoked_at is null
                and (expires_at is null or expires_at > clock_timestamp())))`.execute(db);
  return rows.length > 0;
}
