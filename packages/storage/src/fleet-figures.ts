import { sql } from 'kysely';
import { mustEndAt } from './leases.ts';
import type { Queries } from './open-storage.ts';
import { type ProviderSpend, readProviderSpend } from './provider-spend.ts';
import { FREE_POOL } from './system-accounts.ts';

/** How the whole service is doing, as Postgres sees it. */
export interface FleetFigures {
  /** Running polls held by a worker. */
  held: number;
  /** Running polls without a holder: not claimed yet (except flex polls, which may wait), or left by a dead worker. */
  lapsed: number;
  /** Running polls past their deadline, held or not. */
  overdue: number;
  /** Polls that were given up and not yet closed by an operator. */
  buried: number;
  /** Null until the first free poll of a UTC day fills the pool. */
  freePoolU: bigint | null;
  /** Seconds since the last progress of the open batch that has been idle for longest; 0 without one. */
  batchIdleS: BatchIdle;
  /** What providers charge the fleet. */
  spend: ProviderSpend;
  /** checkedAt: when the books were last checked. failures: attempts that failed since the last completed one. */
  ledger: { checkedAt: Date; tookMs: number; violations: number; failures: number };
  /** From this time on, polls have no partition to be stored in. */
  monthsEndAt: Date;
  /** Since when the oldest data due for deletion has been waiting: ended polls, closed accounts, other rows. */
  keptTooLong: Record<'polls' | 'accounts' | 'rows', Date | null>;
  /** Since when the oldest finished day of receipts has been waiting for its seal. */
  unsealedSince: Date | null;
  /** Whether the newest attempt of Postgres to archive its WAL failed. */
  archiveFails: boolean;
}

/** By what the batch waits for: a gateway that turns rows into polls, or workers that run its polls. */
export interface BatchIdle {
  gateway: number;
  worker: number;
}

/** Reads only what is unfinished, so that it stays cheap however many polls have ended. */
export async function readFleetFigures(queries: Queries): Promise<FleetFigures> {
  const { db } = queries;
  const spend = await readProviderSpend(queries);
  const { rows } = await sql<Row>`
    select p.held, p.lapsed, p.overdue, b.buried, f.free_pool_u, i.of_gateway, i.of_worker, l.checked_at, l.took_ms, l.violations, l.failures, m.months_end_at,
           k.polls as polls_since, k.accounts as accounts_since, k.other_rows as rows_since,
           r.since as unsealed_since, a.fails as archive_fails
      from (select count(*) filter (where lease_owner is not null and lease_until >= now())::integer as held,
                   count(*) filter (where (lease_owner is null or lease_until < now())
                                        and (lane = 'standard' or lease_epoch > 0))::integer as lapsed,
                   count(*) filter (where ${mustEndAt} < now())::integer as overdue
              from polls where status = 'running') p
     cross join (select count(*)::integer as buried from dead_letters where seen_at is null) b
     cross join (select case when topped_up_on = (now() at time zone 'utc')::date then posted_u - held_u end as free_pool_u from balances where account_id = ${FREE_POOL}) f
     cross join (select coalesce(max(idle_s) filter (where running = 0), 0)::float8 as of_gateway,
                        coalesce(max(idle_s) filter (where running > 0), 0)::float8 as of_worker
                   from (select running, extract(epoch from now() - moved_at) as idle_s
                           from batches where status in ('running', 'canceling')) open) i
     cross join ledger_checks l
     cross join (select max(ends_at) as months_end_at from months) m
     cross join kept_too_long() k
     cross join (select case when day < (now() at time zone 'utc')::date then (day + 1)::timestamp at time zone 'utc' end as since
                   from day_to_seal() as day) r
     cross join (select coalesce(last_failed_time > coalesce(last_archived_time, '-infinity'), false) as fails
                   from pg_stat_archiver) a`.execute(db);
  const { held, lapsed, overdue, buried, free_pool_u, of_gateway, of_worker, months_end_at, ...more } = rows[0]!;
  const { polls_since, accounts_since, rows_since, unsealed_since, archive_fails, ...ledger } = more;
  const { checked_at, took_ms, violations, failures } = ledger;
  return {
    held,
    lapsed,
    overdue,
    buried,
    freePoolU: free_pool_u,
    batchIdleS: { gateway: of_gateway, worker: of_worker },
    spend,
    ledger: { checkedAt: checked_at, tookMs: took_ms, violations, failures },
    monthsEndAt: months_end_at,
    keptTooLong: { polls: polls_since, accounts: accounts_since, rows: rows_since },
    unsealedSince: unsealed_since,
    archiveFails: archive_fails,
  };
}

interface Row {
  held: number;
  lapsed: number;
  overdue: number;
  buried: number;
  free_pool_u: bigint | null;
  of_gateway: number;
  of_worker: number;
  checked_at: Date;
  took_ms: number;
  violations: number;
  failures: number;
  months_end_at: Date;
  polls_since: Date | null;
  accounts_since: Date | null;
  rows_since: Date | null;
  unsealed_since: Date | null;
  archive_fails: boolean;
}
