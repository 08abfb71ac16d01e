import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import type { Queries } from '../open-storage.ts';
import { inTransaction } from '../transaction.ts';
import type { CellDatabase } from './move-account.ts';
import { arriveInCell } from './moves.ts';

export interface Settled {
  accountId: string;
  amountU: bigint;
}

/**
 * Forwards money that reached accounts after they moved from `from` to `to`: a deposit that the chain confirmed late
 * or, as a negative amount, a reversed payment. Finishes what an earlier call left incomplete. Safe to repeat.
 */
export async function settleMoves(from: CellDatabase, to: CellDatabase): Promise<Settled[]> {
  const { rows } = await sql<{ id: string }>`
    select id from account_moves
     where direction = 'out' and state = 'left' and to_cell = ${to.name}`.execute(from.storage.db);
  for (const { id } of rows) await arriveInCell(from.storage, to.storage, id);
  const settled: Settled[] = [];
  for (const accountId of await accountsWithMoney(from.storage, to.name)) {
    const id = randomUUID();
    const amountU = await sendRest(from, to, { id, accountId });
    if (amountU === 0n) continue;
    await arriveInCell(from.storage, to.storage, id);
    settled.push({ accountId, amountU });
  }
  return settled;
}

/** Without accounts of which something has left for another cell and not arrived: one departure at a time is open. */
async function accountsWithMoney({ db }: Queries, cell: string): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    select a.id from accounts a join balances b on b.account_id = a.id
     where a.moved_to = ${cell} and b.posted_u <> 0 and b.held_u = 0
       and exists (select from account_moves m where m.account_id = a.id and m.direction = 'out' and m.state = 'arrived')
       and not exists (select from account_moves m where m.account_id = a.id and m.direction = 'out' and m.state = 'left')`.execute(
    db,
  );
  return rows.map(({ id }) => id);
}

/**
 * Moves the posted amount in one transaction, with the part of card payments that the target holds back; nothing if the
 * account has come back meanwhile.
 */
function sendRest(
  from: CellDatabase,
  to: CellDatabase,
  { id, accountId }: { id: string; accountId: string },
): Promise<bigint> {
  return inTransaction(from.storage, async ({ db }) => {
    // Locked before the balance, in the order used when a payment is credited or reversed.
    await sql`select from checkouts where account_id = ${accountId} order by id for update`.execute(db);
    const { rows } = await sql<{ amountU: bigint }>`
      select b.posted_u as "amountU" from accounts a join balances b on b.account_id = a.id
       where a.id = ${accountId} and a.moved_to = ${to.name} for update`.execute(db);
    const amountU = rows[0]?.amountU ?? 0n;
    if (amountU === 0n) return 0n;
    await sql`
      insert into account_moves (id, account_id, direction, kind, from_cell, to_cell, state, amount_u, facts, left_at)
      values (${id}, ${accountId}, 'out', 'rest', ${from.name}, ${to.name}, 'left', ${amountU},
              jsonb_build_object('checkouts', moving_checkouts(${accountId})), now())`.execute(db);
    await sql`update balances set held_back_u = 0 where account_id = ${accountId}`.execute(db);
    await sql`update checkouts set held_back_u = 0 where account_id = ${accountId} and held_back_u > 0`.execute(db);
    await sql`
      select ledger_move(${amountU > 0n ? 'reversal' : 'credit'}, ${accountId}, '00000000-0000-4000-8000-000000000007',
                         abs(${amountU}::bigint), ${`move:${id}:out`})`.execute(db);
    return amountU;
  });
}
