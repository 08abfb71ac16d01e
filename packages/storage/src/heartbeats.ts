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

/** Share of minutes with a beat since the first beat in the window; null before a full minute was recorded. */
export async function uptime({ db }: Queries, service: 'gateway' | 'worker', days = 30): Promise<number | null> {
  const { rows } = await sql<{ ratio: number | null }>`
    select (count(*) / nullif(extract(epoch from date_trunc('minute', now()) - min(minute)) / 60, 0))::float8 as ratio
      from heartbeats
     where service = ${service} and minute < date_trunc('minute', now())
       and minute >= date_trunc('minute', now()) - ${days} * interval '1 day'`.execute(db);
  return rows[0]?.ratio ?? null;
}
