import { sql } from 'kysely';
import type { IdempotencyKey } from './accept-poll.ts';
import type { Queries } from './open-storage.ts';

// Idempotency-Key for operations other than polls (a poll claims its key together with its hold, in acceptPoll): claim
// the key, do the work, store the sealed response. If the holder dies, the key is free again after `holdMs`.

export type KeyClaim =
  /** Do the work, then complete or release the key with this claim. */
  | { kind: 'claimed'; claim: string }
  /** Another request is doing the work at this moment. */
  | { kind: 'running'; retryAfterMs: number }
  /** It was done; this is the stored response. */
  | { kind: 'done'; response: Buffer }
  /** The key belongs to another request. */
  | { kind: 'reused' };

export async function claimKey({ db }: Queries, key: IdempotencyKey, holdMs: number): Promise<KeyClaim> {
  const { rows: claimed } = await sql<{ claim: string }>`
    insert into idempotency as i (principal, entry_point, key, fingerprint, claim, claimed_until, expires_at)
    values (${key.principal}, ${key.entryPoint}, ${key.key}, ${key.fingerprint}, gen_random_uuid(),
            now() + ${holdMs} * interval '1 millisecond', now() + interval '24 hours')
    on conflict (principal, entry_point, key) do update
      set fingerprint = excluded.fingerprint, poll_id = null, response = null, claim = excluded.claim,
          claimed_until = excluded.claimed_until, created_at = now(), expires_at = excluded.expires_at
      where i.expires_at <= now()
         or (i.poll_id is null and i.response is null and i.claimed_until <= now()
             and i.fingerprint = excluded.fingerprint)
    returning claim`.execute(db);
  if (claimed[0]) return { kind: 'claimed', claim: claimed[0].claim };

  const { rows } = await sql<{ fingerprint: string; response: Buffer | null; wait_ms: number | null }>`
    select fingerprint, response, ceil(extract(epoch from claimed_until - now()) * 1000)::integer as wait_ms
      from idempotency
     where principal = ${key.principal} and entry_point = ${key.entryPoint} and key = ${key.key}`.execute(db);
  const known = rows[0];
  // The key was released between the two statements: the next attempt gets it.
  if (!known) return { kind: 'running', retryAfterMs: 0 };
  if (known.fingerprint !== key.fingerprint || (known.response === null && known.wait_ms === null))
    return { kind: 'reused' };
  if (known.response !== null) return { kind: 'done', response: known.response };
  return { kind: 'running', retryAfterMs: Math.max(0, known.wait_ms ?? 0) };
}

/** Keeps the response for 24 hours from the claim. false if another request has taken the claim over meanwhile. */
export async function completeKey({ db }: Queries, claim: string, key: KeyScope, response: Buffer): Promise<boolean> {
  const row = await db
    .updateTable('idempotency')
    .set({ response })
    .where('principal', '=', key.principal)
    .where('entry_point', '=', key.entryPoint)
    .where('key', '=', key.key)
    .where('claim', '=', claim)
    .returning('claim')
    .executeTakeFirst();
  return row !== undefined;
}

/** Nothing was executed, so nothing is remembered: a retry with the same key starts again. */
export async function releaseKey({ db }: Queries, claim: string, key: KeyScope): Promise<void> {
  await db
    .deleteFrom('idempotency')
    .where('principal', '=', key.principal)
    .where('entry_point', '=', key.entryPoint)
    .where('key', '=', key.key)
    .where('claim', '=', claim)
    .where('response', 'is', null)
    .execute();
}

/** A poll that was given up cost nothing: its key is freed, so that a retry creates a new poll. */
export async function forgetPollKey({ db }: Queries, key: KeyScope, pollId: string): Promise<void> {
  await db
    .deleteFrom('idempotency')
    .where('principal', '=', key.principal)
    .where('entry_point', '=', key.entryPoint)
    .where('key', '=', key.key)
    .where('poll_id', '=', pollId)
    // A retry must not restart a poll that its caller canceled.
    .where(({ not, exists, selectFrom }) =>
      not(exists(selectFrom('polls').select('id').where('id', '=', pollId).where('canceled_at', 'is not', null))),
    )
    .execute();
}

/** The poll that belongs to a key, while the key is remembered. */
export async function findPollOfKey({ db }: Queries, key: KeyScope): Promise<string | null> {
  const row = await db
    .selectFrom('idempotency')
    .select('poll_id')
    .where('principal', '=', key.principal)
    .where('entry_point', '=', key.entryPoint)
    .where('key', '=', key.key)
    .executeTakeFirst();
  return row?.poll_id ?? null;
}

type KeyScope = Pick<IdempotencyKey, 'principal' | 'entryPoint' | 'key'>;
