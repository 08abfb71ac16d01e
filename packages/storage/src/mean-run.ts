import { pollIdsSince } from '@eloquentpoll/polls';
import { sql } from 'kysely';
import type { Queries } from './open-storage.ts';

const POLLS = 100;
/** Older polls say little about the present speed. */
const DAYS = 14;

/** Mean time from claim to end of the newest polls, in milliseconds; null if none has ended lately. */
export async function meanRunMs({ db }: Queries): Promise<number | null> {
  const since = new Date(Date.now() - DAYS * 86_400_000);
  const { rows } = await sql<{ ms: number | null }>`
    select avg(gather_ms) filter (where status <> 'failed')::double precision as ms
      from (select gather_ms, status from results where poll_id >= ${pollIdsSince(since)} order by created_at desc limit ${POLLS}) newest`.execute(
    db,
  );
  return rows[0]?.ms ?? null;
}
