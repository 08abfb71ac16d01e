import { pollIdsSince } from '@eloquentpoll/polls';
import { sql } from 'kysely';
import type { Queries } from './open-storage.ts';

const POLLS = 100;
/** Older ones say little about now. */
const DAYS = 14;

/** How long the newest polls ran once a worker had them, in milliseconds; null where none has ended lately. */
export async function meanRunMs({ db }: Queries): Promise<number | null> {
  const since = new Date(Date.now() - DAYS * 86_400_000);
  const { rows } = await sql<{ ms: number | null }>`
    select avg(gather_ms) filter (where status <> 'failed')::double precision as ms
      from (select gather_ms, status from results where poll_id >= ${pollIdsSince(since)} order by created_at desc limit ${POLLS}) newest`.execute(
    db,
  );
  return rows[0]?.ms ?? null;
}
