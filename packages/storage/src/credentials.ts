import { sql } from 'kysely';
import type { Queries } from './open-storage.ts';

/** What a caller came with; neither is an access token, whose end is its own. */
export interface PresentedCredential {
  loginId?: string | undefined;
  keyId?: string | undefined;
}

/**
 * Whether a credential that was accepted still opens its account, which is neither frozen nor closed. In a transaction that
 * has locked the account it stays so until its end, but for a login or key that is ended alone.
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
