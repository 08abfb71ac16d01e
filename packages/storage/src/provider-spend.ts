import { sql } from 'kysely';
import { StorageRefused } from './errors.ts';
import type { Queries } from './open-storage.ts';

// What model providers charge the whole fleet, and which callers' questions make calls fail.

/** The maximum that providers may charge for the polls of one hour and of one UTC day. */
export interface SpendCeiling {
  hourU: bigint;
  dayU: bigint;
}

/** The totals that claims may not exceed. */
export interface ClaimCeiling extends SpendCeiling {
  /** For flex polls, which leave a part to other polls; without it, the general ceiling applies. */
  flex?: SpendCeiling | undefined;
}

export interface ProviderSpend {
  /** For this hour and this UTC day, including `held`. */
  hourU: bigint;
  dayU: bigint;
  /** Set aside for running polls of this hour. */
  heldU: bigint;
}

export async function readProviderSpend({ db }: Queries): Promise<ProviderSpend> {
  const { rows } = await sql<ProviderSpend>`
    select coalesce(sum(hour_u) filter (where hour = date_trunc('hour', now(), 'UTC')), 0)::bigint as "hourU",
           coalesce(sum(day_u) filter (where day = (now() at time zone 'utc')::date), 0)::bigint as "dayU",
           coalesce(sum(hour_held_u) filter (where hour = date_trunc('hour', now(), 'UTC')), 0)::bigint as "heldU"
      from provider_spend`.execute(db);
  return rows[0]!;
}

/** Seconds until a poll may fit under the ceiling that refused it; null if something else refused it. */
export function ceilingRetryS(error: unknown): number | null {
  if (!(error instanceof StorageRefused) || error.code !== 'EP006') return null;
  const { detail } = error.cause as { detail?: string };
  return Number(detail);
}

/** Failed calls that the questions of one caller caused in one UTC day. */
export interface CallerFailures {
  /** An account id, or the keyed hash of a network. */
  caller: string;
  accountId: string | null;
  refusals: number;
  otherFailures: number;
  /** What the calls cost us, which part was free, and which part the account paid. */
  faultU: bigint;
  freeU: bigint;
  chargedU: bigint;
}

/** Those of today, most failures first. */
export async function failuresByCaller({ db }: Queries, limit: number): Promise<CallerFailures[]> {
  const { rows } = await sql<CallerFailures>`
    select caller, account_id as "accountId", refusals, other_failures as "otherFailures", fault_u as "faultU",
           free_u as "freeU", charged_u as "chargedU"
      from caller_days where day = (now() at time zone 'utc')::date
     order by refusals + other_failures desc, caller limit ${limit}`.execute(db);
  return rows;
}
