import { sql } from 'kysely';
import type { Storage } from '../open-storage.ts';
import { MoveRefused } from './moves.ts';

/** Runs one command about a move of the account at a time. The lock is its source's and ends with this process. */
export function whileMoving<T>(source: Storage, accountId: string, work: () => Promise<T>): Promise<T> {
  return source.db.connection().execute(async (db) => {
    const key = sql`hashtextextended(${`move:${accountId}`}, 0)`;
    const { rows } = await sql<{ locked: boolean }>`select pg_try_advisory_lock(${key}) as locked`.execute(db);
    if (!rows[0]!.locked) throw new MoveRefused('another command is at work on a move of this account');
    try {
      return await work();
    } finally {
      // A connection that is gone holds no lock.
      await sql`select pg_advisory_unlock(${key})`.execute(db).catch(() => {});
    }
  });
}
