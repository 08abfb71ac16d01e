import type { Queries } from './open-storage.ts';

// Events of the payment processor that were dealt with. They come at least once and in any order; what they are about is
// safe to repeat, so this only saves work.

/** Which of these events nobody has dealt with yet. */
export async function unseenEvents({ db }: Queries, ids: readonly string[]): Promise<Set<string>> {
  if (ids.length === 0) return new Set();
  const rows = await db.selectFrom('webhook_events').select('id').where('id', 'in', ids).execute();
  const seen = new Set(rows.map((row) => row.id));
  return new Set(ids.filter((id) => !seen.has(id)));
}

export async function noteEvent({ db }: Queries, { id, type }: { id: string; type: string }): Promise<void> {
  await db
    .insertInto('webhook_events')
    .values({ id, type })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}
