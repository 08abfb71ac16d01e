import { sql } from 'kysely';
import type { Queries } from './open-storage.ts';

const POLLS = 100;

/** How long the newest polls ran once a worker had them, in milliseconds; null before the first has ended. */
export async function meanRunMs({ db }: Queries): Promise<number | null> {
  const { rows } = await sql<{ ms: number | null }>`
    select avg(gather_ms) filter (where status <> 'failed')::double precision as ms
      from (select gather_ms, status from results order by created_at desc limit ${POLLS}) newest`.execute(db);
  return rows[0]?.ms ?? null;
}
