import type { Queries } from './open-storage.ts';

/** The balance below which the owner wants to be notified; null: never. */
export async function setLowBalance({ db }: Queries, accountId: string, amountU: bigint | null): Promise<void> {
  await db.updateTable('balances').set({ low_balance_u: amountU }).where('account_id', '=', accountId).execute();
}
