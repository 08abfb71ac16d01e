import { sql } from 'kysely';
import type { Queries } from './open-storage.ts';

// Measured uptime: each service records the minutes in which it was alive.

export async function beat({ db }: Queries, service: 'gateway' | 'worker'): Promise<void> {
  await db
    .insertInto('heartbeats')
    .values({ service, minute: sql<Date>`date_trunc('minute', now())` })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

/**
 * Share of minutes with a beat in the window, or since the first beat of all if that is later; null before a full minute
 * was recorded.
 */
export async function uptime({ db }: Queries, service: 'gateway' | 'worker', days = 30): Promise<number | null> {
  const { rows } = await sql<{ ratio: number | null }>`
    with span as (
      select date_trunc('minute', now()) as ends,
             greatest(date_trunc('minute', now()) - ${days} * interval '1 day',
                      (select minute from heartbeats where service = ${service} order by minute limit 1)) as begins
    )
    select ((select count(*) from heartbeats where service = ${service} and minute >= begins and minute < ends)
            / nullif(extract(epoch from ends - begins) / 60, 0))::float8 as ratio
      from span
     where exists (select from heartbeats where service = ${service})`.execute(db);
  return rows[0]?.ratio ?? null;
}
