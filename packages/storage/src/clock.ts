import { sql } from 'kysely';
import type { Queries } from './open-storage.ts';

/** Milliseconds of the Unix epoch by the clock of Postgres, which all processes share. */
export async function storageTime({ db }: Queries): Promise<number> {
  const { rows } = await sql<{ ms: number }>`select (extract(epoch from now()) * 1000)::float8 as ms`.execute(db);
  return rows[0]!.ms;
}
