import { sql } from 'kysely';
import type { Storage } from '../open-storage.ts';
import { MoveRefused } from './moves.ts';

/**
 * Allows one command at a time about a move of the account. The lock is held in the source and ends with this process.
 */
export function whileMoving<T>(source: Storage, accountId: string, work: () => Promise<T>): Promise<T> {
  return source.db.connection().execute(async (db) => {
    const key = sql`hashtextextended(${`move:${accountId}`}, 0)`;
    const { rows } = await sql<{ locked: boolean }>`select pg_try_advisory_lock(${key}) as locked`.execute(db);
    if (!rows[0]!.locked) throw new MoveRefused('another command is at work on a move of this account');
    try {
      return await work();
    } finally {
      // A lost connection holds no lock, so ignore the error.
      await sql`select pg_advisory_unlock(${key})`.execute(db).catch(() => {});
    }
  });
}
