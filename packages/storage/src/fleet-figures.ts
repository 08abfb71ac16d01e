import { sql } from 'kysely';
import type { Queries } from './open-storage.ts';
import { type ProviderSpend, readProviderSpend } from './provider-spend.ts';
import { FREE_POOL } from './system-accounts.ts';

/** How the whole service is doing, as Postgres sees it. */
export interface FleetFigures {
  /** Running polls that a worker holds. */
  held: number;
  /** Running polls without a holder: not claimed yet, unless they are flex polls, which may wait; or left by a dead worker. */
  lapsed: number;
  /** Running polls past their deadline, held or not. */
  overdue: number;
  /** Polls that were given up and that no operator has closed. */
  buried: number;
  freePoolU: bigint;
  /** What providers charge the fleet. */
  spend: ProviderSpend;
  /** checkedAt: when the books were proved last. failures: attempts that have failed since the last one that ended. */
  ledger: { checkedAt: Date; tookMs: number; violations: number; failures: number };
}

/** Reads what is unfinished only, so that it stays cheap however many polls have ended. */
export async function readFleetFigures(queries: Queries): Promise<FleetFigures> {
  const { db } = queries;
  const spend = await readProviderSpend(queries);
  const { rows } = await sql<Row>`
    select p.held, p.lapsed, p.overdue, b.buried, f.free_pool_u, l.checked_at, l.took_ms, l.violations, l.failures
      from (select count(*) filter (where lease_owner is not null and lease_until >= now())::integer as held,
                   count(*) filter (where (lease_owner is null or lease_until < now())
                                        and (lane = 'standard' or lease_epoch > 0))::integer as lapsed,
                   count(*) filter (where least(deadline_at, run_until) < now())::integer as overdue
              from polls where status = 'running') p
     cross join (select count(*)::integer as buried from dead_letters where seen_at is null) b
     cross join (select posted_u - held_u as free_pool_u from balances where account_id = ${FREE_POOL}) f
      cross join ledger_checks l`.execute(db);
  const { held, lapsed, overdue, buried, free_pool_u, checked_at, took_ms, violations, failures } = rows[0]!;
  return {
    held,
    lapsed,
    overdue,
    buried,
    freePoolU: free_pool_u,
    spend,
    ledger: { checkedAt: checked_at, tookMs: took_ms, violations, failures },
  };
}

interface Row {
  held: number;
  lapsed: number;
  overdue: number;
  buried: number;
  free_pool_u: bigint;
  checked_at: Date;
  took_ms: number;
  violations: number;
  failures: number;
}
