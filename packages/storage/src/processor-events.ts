import { sql } from 'kysely';
import type { Queries } from './open-storage.ts';

// Events of the payment processor that were processed. They arrive at least once and in any order; processing an event
// twice is harmless, so this only saves work.

/** Which of these events have not been processed yet. */
export async function unseenProcessorEvents({ db }: Queries, ids: readonly string[]): Promise<Set<string>> {
  if (ids.length === 0) return new Set();
  const isAsked = sql<boolean>`id = any(${[...ids]}::text[])`;
  const rows = await db.selectFrom('processor_events').select('id').where(isAsked).execute();
  const seen = new Set(rows.map((row) => row.id));
  return new Set(ids.filter((id) => !seen.has(id)));
}

export async function noteProcessorEvent({ db }: Queries, { id, type }: { id: string; type: string }): Promise<void> {
  await db
    .insertInto('processor_events')
    .values({ id, type })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}
