import { sql } from 'kysely';
import { lockUnclosed } from './accounts.ts';
import type { Queries, Storage } from './open-storage.ts';
import { inTransaction } from './transaction.ts';

// Panels that an account saves under its own names.

export interface StoredPanel {
  name: string;
  models: readonly string[];
  updatedAt: Date;
}

export const MAX_SAVED_PANELS = 50;

const columns = ['name', 'models', 'updated_at'] as const;

export async function listSavedPanels({ db }: Queries, accountId: string): Promise<StoredPanel[]> {
  const rows = await db
    .selectFrom('saved_panels')
    .select(columns)
    .where('account_id', '=', accountId)
    .orderBy('name')
    .execute();
  return rows.map(toPanel);
}

export async function findSavedPanel({ db }: Queries, accountId: string, name: string): Promise<StoredPanel | null> {
  const row = await db
    .selectFrom('saved_panels')
    .select(columns)
    .where('account_id', '=', accountId)
    .where('name', '=', name)
    .executeTakeFirst();
  return row ? toPanel(row) : null;
}

/** Saves a panel, or replaces the one with that name; null if the account already has as many as it may. */
export function savePanel(
  storage: Storage,
  accountId: string,
  { name, models }: Pick<StoredPanel, 'name' | 'models'>,
): Promise<StoredPanel | null> {
  return inTransaction(storage, async (tx) => {
    // Lock the account, so that panels saved concurrently count each other.
    await lockUnclosed(tx, accountId);
    const { db } = tx;
    const { others } = await db
      .selectFrom('saved_panels')
      .select(sql<number>`count(*)::integer`.as('others'))
      .where('account_id', '=', accountId)
      .where('name', '<>', name)
      .executeTakeFirstOrThrow();
    if (others >= MAX_SAVED_PANELS) return null;
    const row = await db
      .insertInto('saved_panels')
      .values({ account_id: accountId, name, models: [...models] })
      .onConflict((same) =>
        same.columns(['account_id', 'name']).doUpdateSet({ models: [...models], updated_at: sql<Date>`now()` }),
      )
      .returning(columns)
      .executeTakeFirstOrThrow();
    return toPanel(row);
  });
}

/** False when there was none. */
export async function removeSavedPanel({ db }: Queries, accountId: string, name: string): Promise<boolean> {
  const { numDeletedRows } = await db
    .deleteFrom('saved_panels')
    .where('account_id', '=', accountId)
    .where('name', '=', name)
    .executeTakeFirst();
  return numDeletedRows > 0n;
}

const toPanel = ({ name, models, updated_at }: { name: string; models: string[]; updated_at: Date }): StoredPanel => ({
  name,
  models,
  updatedAt: updated_at,
});
