import { sql } from 'kysely';
import { lockAccount } from '../accounts.ts';
import type { Queries, Storage } from '../open-storage.ts';
import { inTransaction } from '../transaction.ts';
import type { CellDatabase } from './move-account.ts';

// The states of a move, as stored in the source. Each step may be repeated: it leaves alone what is already done.

/** The move cannot begin, was given up, or was taken over by another command; this command changes nothing. */
export class MoveRefused extends Error {
  override readonly name = 'MoveRefused';
}

export interface AccountMove {
  id: string;
  accountId: string;
  fromCell: string;
  toCell: string;
  state: 'copying' | 'frozen' | 'left' | 'arrived' | 'abandoned';
  amountU: bigint;
}

const COLUMNS = [
  'id',
  'account_id as accountId',
  'from_cell as fromCell',
  'to_cell as toCell',
  'state',
  'amount_u as amountU',
] as const;

/** The move of an account out of this cell, if it has not arrived yet. */
export async function findOpenMove({ db }: Queries, accountId: string): Promise<AccountMove | null> {
  const row = await db
    .selectFrom('account_moves')
    .select(COLUMNS)
    .where('account_id', '=', accountId)
    .where('direction', '=', 'out')
    .where('kind', '=', 'account')
    .where('state', 'in', ['copying', 'frozen', 'left'])
    .executeTakeFirst();
  return row ?? null;
}

export async function beginMove(
  { db }: Queries,
  move: { id: string; accountId: string; fromCell: string; toCell: string },
): Promise<void> {
  await db
    .insertInto('account_moves')
    .values({
      ...{ id: move.id, account_id: move.accountId, from_cell: move.fromCell, to_cell: move.toCell },
      ...{ direction: 'out', kind: 'account', state: 'copying' },
    })
    .execute();
}

/**
 * Creates the account at the target, where it counts as closed and living at the source until it arrives, and keeps
 * workers from emptying it. False if it lives at the target.
 */
export async function expectAccount({ db }: Queries, accountId: string, fromCell: string): Promise<boolean> {
  const { rows } = await sql<{ id: string }>`
    insert into accounts as a (id, deleted_at, moved_to, keep_until)
    values (${accountId}, now(), ${fromCell}, 'infinity')
    on conflict (id) do update set moved_to = excluded.moved_to, keep_until = 'infinity', emptied_at = null
      where a.kind = 'user' and a.moved_to is not null
    returning id`.execute(db);
  await sql`insert into balances (account_id) values (${accountId}) on conflict do nothing`.execute(db);
  return rows.length > 0;
}

/** To continue a move. If giving it up was interrupted, the target's workers may be allowed to empty the account. */
export function expectAgain(from: Storage, to: Queries, { id, accountId, fromCell }: AccountMove): Promise<void> {
  return inTransaction(from, async (tx) => {
    await lockOpenMove(tx, id);
    if (!(await expectAccount(to, accountId, fromCell))) throw new MoveRefused(OVERTAKEN);
  });
}

/**
 * Fences writes of the account's rows at its target: until the transaction ends it stays closed there, or this throws.
 */
export async function fenceTarget({ db }: Queries, accountId: string): Promise<void> {
  const { rows } = await sql`
    select from accounts where id = ${accountId} and moved_to is not null for share`.execute(db);
  if (rows.length === 0) throw new MoveRefused('another command has brought the account to its target');
}

const OVERTAKEN = 'another command has finished or given up this move';

/** Until the transaction ends no other command can finish or give up the move. */
async function lockOpenMove({ db }: Queries, moveId: string): Promise<void> {
  const { rows } = await sql`
    select from account_moves where id = ${moveId} and state in ('copying', 'frozen') for update`.execute(db);
  if (rows.length === 0) throw new MoveRefused(OVERTAKEN);
}

/** From then on only running polls and changes begun before (see `readChanges`) change the account. False if closed. */
export function freezeForMove(storage: Storage, { id, accountId }: AccountMove): Promise<boolean> {
  return inTransaction(storage, async (tx) => {
    const { db } = tx;
    await lockOpenMove(tx, id);
    // Waits for polls that are being accepted and keys that are being created; later requests find the account moving.
    if (!(await lockAccount(tx, accountId))) return false;
    await sql`update accounts set moving_at = coalesce(moving_at, now()) where id = ${accountId}`.execute(db);
    await sql`
      update account_moves set state = 'frozen', frozen_at = now() where id = ${id} and state = 'copying'`.execute(db);
    return true;
  });
}

/**
 * Transactions that are writing to a table guarded by `refuse_while_moving`; with `among`, only those. Transactions
 * that read an account before it was frozen are listed until they end.
 */
export async function readChanges({ db }: Queries, among?: readonly string[]): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    select distinct virtualtransaction as id from pg_locks
     where relation in (select tgrelid from pg_trigger where tgfoid = 'refuse_while_moving'::regproc)
       and database = (select oid from pg_database where datname = current_database())
       and mode in ('RowExclusiveLock', 'ShareRowExclusiveLock', 'ExclusiveLock', 'AccessExclusiveLock') and granted
       and pid is distinct from pg_backend_pid()
       and (${among ?? null}::text[] is null or virtualtransaction = any(${among ?? null}::text[]))`.execute(db);
  return rows.map(({ id }) => id);
}

export interface StillOpen {
  polls: number;
  batches: number;
  heldU: bigint;
}

/** What must end before the account can leave. */
export async function stillOpen({ db }: Queries, accountId: string): Promise<StillOpen> {
  const { rows } = await sql<StillOpen>`
    select (select count(*)::integer from polls where account_id = b.account_id and status = 'running') as polls,
           (select count(*)::integer from batches
             where account_id = b.account_id and status in ('loading', 'running', 'canceling')) as batches,
           held_u + reserved_u as "heldU"
      from balances b where account_id = ${accountId}`.execute(db);
  return rows[0] ?? { polls: 0, batches: 0, heldU: 0n };
}

export async function leaveCell({ db }: Queries, moveId: string, keepS: number): Promise<boolean> {
  const { rows } = await sql<{ done: boolean }>`
    select leave_cell(${moveId}, ${keepS} * interval '1 second') as done`.execute(db);
  return rows[0]!.done;
}

/** The target's half of a move, or of forwarding money that came after it. */
export async function arriveInCell(from: Queries, to: Queries, moveId: string): Promise<boolean> {
  const { rows } = await sql<{ move: string }>`
    select row_to_json(m)::text as move from account_moves m where id = ${moveId}`.execute(from.db);
  const arrived = await sql<{ done: boolean }>`select arrive_in_cell(${rows[0]!.move}::jsonb) as done`.execute(to.db);
  await sql`
    update account_moves set state = 'arrived', arrived_at = now(), facts = facts - 'account'
     where id = ${moveId} and state = 'left'`.execute(from.db);
  return arrived.rows[0]!.done;
}

/**
 * Ends a move: the account stays where it is, and the target's workers empty what was copied. Refuses if the move has
 * left or was given up, or if `to` is not its target.
 */
export async function abandonMove(from: Storage, to: CellDatabase, move: AccountMove): Promise<void> {
  const { id, accountId, toCell } = move;
  if (toCell !== to.name) throw new MoveRefused(`the account is on its way to cell ${toCell}`);
  // The target's part runs inside the source's transaction: if interrupted, the move is still open and can be given up.
  await inTransaction(from, async ({ db }) => {
    const { numUpdatedRows } = await db
      .updateTable('account_moves')
      .set({ state: 'abandoned' })
      .where('id', '=', id)
      .where('state', 'in', ['copying', 'frozen'])
      .executeTakeFirst();
    if (numUpdatedRows === 0n) throw new MoveRefused(OVERTAKEN);
    await sql`update accounts set moving_at = null where id = ${accountId} and moved_to is null`.execute(db);
    await forgetCopied(to.storage, accountId);
  });
}

function forgetCopied(to: Storage, accountId: string): Promise<void> {
  return inTransaction(to, async ({ db }) => {
    await fenceTarget({ db }, accountId);
    await sql`select set_config('eloquentpoll.moving', 'on', true)`.execute(db);
    for (const table of ['logins', 'identities', 'api_keys', 'saved_panels', 'webhook_endpoints'] as const)
      await db.deleteFrom(table).where('account_id', '=', accountId).execute();
    await sql`delete from idempotency where principal = ${accountId}`.execute(db);
    // Days stay where the account has lived before: they are compared with what the ledger captured there.
    await sql`
      delete from usage_days where account_id = ${accountId}
         and not exists (select from account_moves where account_id = ${accountId})`.execute(db);
    await sql`select count_elsewhere(${accountId})`.execute(db);
    await sql`
      update accounts set keep_until = now() where id = ${accountId} and moved_to is not null and moving_at is null`.execute(
      db,
    );
  });
}
