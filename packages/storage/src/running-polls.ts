import type { PanelName, ResultStatus, ServiceTier } from '@eloquentpoll/contracts';
import { pollIdsSince } from '@eloquentpoll/polls';
import { sql } from 'kysely';
import type { Queries } from './open-storage.ts';

// Polls as an operator sees them: age, worker, claims. Neither question nor account is shown.

export interface RunningPoll {
  pollId: string;
  panel: PanelName;
  entryPoint: string;
  /** Null while no worker holds the poll. */
  worker: string | null;
  epoch: number;
  claims: number;
  ageS: number;
  /** Negative once the deadline has passed. */
  leftS: number;
}

/** Those with the nearest deadlines. */
export async function runningPolls({ db }: Queries, limit: number): Promise<RunningPoll[]> {
  const { rows } = await sql<RunningPoll>`
    select id as "pollId", spec ->> 'panel_name' as panel, entry_point as "entryPoint", lease_epoch as epoch, claims,
           case when lease_until >= now() then lease_owner end as worker,
           extract(epoch from now() - created_at)::integer as "ageS",
           extract(epoch from least(deadline_at, run_until) - now())::integer as "leftS"
      from polls where status = 'running' order by deadline_at limit ${limit}`.execute(db);
  return rows;
}

export interface FailedPoll {
  pollId: string;
  resultId: string;
  panel: PanelName;
  entryPoint: string;
  status: ResultStatus;
  failedVotes: number;
  endedAt: Date;
  /** How its votes failed, for example `timeout 3, rate_limited 1`. */
  errors: string;
}

/** Those of the last day, newest first. */
export async function failedPolls({ db }: Queries, limit: number): Promise<FailedPoll[]> {
  // A flex poll may have been accepted a day before it ends.
  const since = new Date(Date.now() - 2 * 86_400_000);
  const { rows } = await sql<FailedPoll>`
    with failed as (
      select * from results
       where status <> 'success' and created_at > now() - interval '1 day' and poll_id >= ${pollIdsSince(since)} order by created_at desc limit ${limit})
    select f.poll_id as "pollId", f.result_id as "resultId", f.panel_name as panel, f.entry_point as "entryPoint", f.status, f.models_failed as "failedVotes",
           f.created_at as "endedAt",
           coalesce((select string_agg(e.error || ' ' || e.times, ', ' order by e.times desc, e.error)
                       from (select error, count(*) as times from votes b
                              where b.poll_id = f.poll_id and error is not null group by error) e), '') as errors
      from failed f order by f.created_at desc`.execute(db);
  return rows;
}

/**
 * Takes a running poll from its holder, so that any worker can claim it at once. The holder finds out at its next
 * renewal, and cannot store anything once the poll has been claimed. Null if the poll has ended.
 */
export async function freeLease({ db }: Queries, pollId: string): Promise<{ epoch: number; lane: ServiceTier } | null> {
  const row = await db
    .updateTable('polls')
    .set({ lease_owner: null, lease_until: sql<Date>`now()` })
    .where('id', '=', pollId)
    .where('finished_at', 'is', null)
    .returning(['lease_epoch as epoch', 'lane'])
    .executeTakeFirst();
  return row ?? null;
}
