import { sql } from 'kysely';
import { StorageRefused } from './errors.ts';
import type { Queries } from './open-storage.ts';

// What model providers charge the whole fleet, and whose questions make them fail.

/** The most that providers may charge for the polls of one hour and of one UTC day. */
export interface SpendCeiling {
  hourU: bigint;
  dayU: bigint;
}

/** What claims may bring the fleet to. */
export interface ClaimCeiling extends SpendCeiling {
  /** Those of flex polls, which leave a part to others; as much as any where it is not said. */
  flex?: SpendCeiling | undefined;
}

export interface ProviderSpend {
  /** Of this hour and this UTC day, `held` included. */
  hourU: bigint;
  dayU: bigint;
  /** Set aside for polls of this hour that are running. */
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

/** Seconds until a poll may fit under the ceiling that refused it; null when something else was refused. */
export function ceilingRetryS(error: unknown): number | null {
  if (!(error instanceof StorageRefused) || error.code !== 'EP006') return null;
  const { detail } = error.cause as { detail?: string };
  return Number(detail);
}

/** What the questions of one caller made fail in one UTC day. */
export interface CallerFailures {
  /** An account's id, or the keyed hash of a network. */
  caller: string;
  accountId: string | null;
  refusals: number;
  otherFailures: number;
  /** What the calls cost us, the part that was free, and the part that the account paid. */
  faultU: bigint;
  freeU: bigint;
  chargedU: bigint;
}

/** Of today, most failures first. */
export async function failuresByCaller({ db }: Queries, limit: number): Promise<CallerFailures[]> {
  const { rows } = await sql<CallerFailures>`
    select caller, account_id as "accountId", refusals, other_failures as "otherFailures", fault_u as "faultU",
           free_u as "freeU", charged_u as "chargedU"
      from caller_days where day = (now() at time zone 'utc')::date
     order by refusals + other_failures desc, caller limit ${limit}`.execute(db);
  return rows;
}
