import { sql } from 'kysely';
import { StorageBusy } from './errors.ts';
import { withLock } from './locks.ts';
import type { Queries, Storage } from './open-storage.ts';

// Tables that grow with polls have a partition for each UTC month. Partitions are created before their month begins,
// and a month is dropped when nothing in it is needed: its polls are emptied and its books are closed.

/** In addition to the present month. */
const MONTHS_AHEAD = 2;

/** Creating and dropping take well under a second. */
const LOCK_TERM_MS = 30_000;

/** False: another process is doing this. */
export const withMonthsLock = (storage: Storage, work: () => Promise<unknown>): Promise<boolean> =>
  withLock(storage, 'months', LOCK_TERM_MS, work);

/** Creates missing partitions; returns their months. */
export async function makeMonths({ db }: Queries): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`select name from keep_months(${MONTHS_AHEAD}) as name`.execute(db);
  return rows.map(({ name }) => name);
}

/**
 * Drops months that are no longer needed. It reports each step at once, because a later one may fail, and returns all
 * steps. Tables that are in use are left for the next time.
 */
export async function dropMonths({ db }: Queries, onStep: (step: string) => void = () => {}): Promise<string[]> {
  const steps: string[] = [];
  for (;;) {
    try {
      const { rows } = await sql<{ step: string | null }>`select drop_month() as step`.execute(db);
      const { step } = rows[0]!;
      if (step === null) return steps;
      steps.push(step);
      onStep(step);
    } catch (error) {
      if (error instanceof StorageBusy) return steps;
      throw error;
    }
  }
}
