import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import type { Queries, Storage } from '../open-storage.ts';
import { TABLES_OF_ACCOUNT, TABLES_OF_POLLS } from './copied-tables.ts';
import { type CopiedTable, type CopyEnds, copyRowsOfAccount, copyRowsOfPolls, readShape } from './copy-rows.ts';
import {
  type AccountMove,
  abandonMove,
  arriveInCell,
  beginMove,
  expectAccount,
  expectAgain,
  fenceTarget,
  findOpenMove,
  freezeForMove,
  leaveCell,
  MoveRefused,
  readChanges,
  type StillOpen,
  stillOpen,
} from './moves.ts';

// Moves an account to another cell. If interrupted at any point, the same command continues. Until `leave` the account
// belongs to the source and the move can be abandoned; then it belongs to the target and the move must be finished.

export interface CellDatabase {
  name: string;
  storage: Storage;
}

export interface MoveTerms {
  accountId: string;
  from: CellDatabase;
  to: CellDatabase;
  /** How long the account may stay frozen while its polls and changes end; after that the move is abandoned. */
  drainS: number;
  /** How long the source keeps its copy. */
  keepS: number;
  /** How long gateways cache a key; when a move begins they stop caching those of the account. */
  cachedS?: number;
}

export type MoveStep = 'copied' | 'frozen' | 'drained' | 'copied_all' | 'left' | 'arrived';

export interface Moved {
  moveId: string;
  polls: number;
  amountU: bigint;
  /** How long the account could not send requests. */
  frozenMs: number;
}

/** Calls `onStep` after each step, before the next begins. */
export async function moveAccount(
  terms: MoveTerms,
  onStep: (step: MoveStep) => Promise<void> | void = () => {},
): Promise<Moved> {
  const { accountId, from, to } = terms;
  const ends = { from: from.storage, to: to.storage, accountId };
  const open = await findOpenMove(from.storage, accountId);
  const move = open ?? (await begin(terms));
  if (move.toCell !== to.name) throw new MoveRefused(`the account is on its way to cell ${move.toCell}`);
  let polls = 0;
  if (move.state !== 'left') {
    if (open) await expectAgain(from.storage, to.storage, move);
    if (move.state === 'copying') {
      polls = await copyPolls(ends);
      await onStep('copied');
      await sleep(await msUntilForgotten(from.storage, move, terms.cachedS ?? CACHED_S));
    }
    if (!(await freezeForMove(from.storage, move))) {
      await abandonMove(from.storage, to, move);
      throw new MoveRefused(`the account was closed; cell ${to.name} empties what was copied of it`);
    }
    await onStep('frozen');
    await drain(terms, move);
    await onStep('drained');
    polls = await copyPolls(ends);
    await emptyDeleted(ends);
    for (const table of TABLES_OF_ACCOUNT) await copyRowsOfAccount(ends, forAccount(table, accountId));
    await onStep('copied_all');
    await leaveCell(from.storage, move.id, terms.keepS);
    await onStep('left');
  }
  await arriveInCell(from.storage, to.storage, move.id);
  await onStep('arrived');
  return { moveId: move.id, polls, ...(await whatMoved(from.storage, move.id)) };
}

/** The reasons to refuse a move; writes nothing. */
export async function problemsWithMove({ accountId, from, to }: MoveTerms): Promise<string[]> {
  const [source] = await accountIn(from.storage, accountId);
  const [target] = await accountIn(to.storage, accountId);
  const problems: string[] = [];
  if (from.name === to.name) problems.push('both cells have the same name');
  if (!source || source.closed) problems.push(`cell ${from.name} has no open account ${accountId}`);
  if (source?.movedTo) problems.push(`the account lives in cell ${source.movedTo}`);
  if (target && !target.movedTo) problems.push(`cell ${to.name} has an account with this id`);
  problems.push(...(await differences(from.storage, to.storage)));
  const { polls, batches } = await stillOpen(from.storage, accountId);
  if (batches > 0) problems.push(`${batches} batches are open, and ${polls} polls run`);
  const { rows } = await sql<{ keys: string }>`
    select coalesce(json_agg(json_build_array(kind, issuer, subject, address))::text, '[]') as keys
      from identities where account_id = ${accountId}`.execute(from.storage.db);
  const { rows: others } = await sql<{ id: string }>`
    select i.account_id as id from json_array_elements(${rows[0]!.keys}::json) k join identities i
      on i.kind = k ->> 0 and i.account_id <> ${accountId}
     and (i.kind = 'oidc' and i.issuer = k ->> 1 and i.subject = k ->> 2 or i.kind = 'wallet' and i.address = (k ->> 3)::bytea)`.execute(
    to.storage.db,
  );
  if (others.length > 0)
    problems.push(`its owner has account ${others[0]!.id} in cell ${to.name}: close one of them first`);
  return problems;
}

/** Longer than the key cache of gateways plus the difference between clocks. */
const CACHED_S = 12;

async function msUntilForgotten({ db }: Queries, { id }: AccountMove, cachedS: number): Promise<number> {
  const { rows } = await sql<{ ms: number }>`
    select greatest(0, extract(epoch from created_at - clock_timestamp()) * 1000 + ${cachedS}::float8 * 1000)::float8 as ms
      from account_moves where id = ${id}`.execute(db);
  return rows[0]!.ms;
}

async function begin(terms: MoveTerms): Promise<AccountMove> {
  const { accountId, from, to } = terms;
  const problems = await problemsWithMove(terms);
  if (problems.length > 0) throw new MoveRefused(problems.join('; '));
  if (!(await expectAccount(to.storage, accountId, from.name)))
    throw new MoveRefused(`cell ${to.name} has an account with this id`);
  await beginMove(from.storage, { id: randomUUID(), accountId, fromCell: from.name, toCell: to.name });
  return (await findOpenMove(from.storage, accountId))!;
}

const forAccount = (table: CopiedTable, accountId: string): CopiedTable => ({
  ...table,
  where: table.where === null ? null : named(table.where, accountId),
  ...(table.instead && {
    instead: Object.fromEntries(
      Object.entries(table.instead).map(([column, text]) => [column, named(text, accountId)]),
    ),
  }),
});

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

function named(text: string, accountId: string): string {
  if (!UUID.test(accountId)) throw new MoveRefused(`${accountId} is not the id of an account`);
  return text.replaceAll('$account', `'${accountId}'::uuid`);
}

interface KnownAccount {
  closed: boolean;
  movedTo: string | null;
}

async function accountIn({ db }: Queries, accountId: string): Promise<KnownAccount[]> {
  const { rows } = await sql<KnownAccount>`
    select deleted_at is not null as closed, moved_to as "movedTo" from accounts where id = ${accountId} and kind = 'user'`.execute(
    db,
  );
  return rows;
}

/** Rows are copied by column, so both databases must have the same columns. */
async function differences(from: Storage, to: Storage): Promise<string[]> {
  const found: string[] = [];
  for (const { name } of [...TABLES_OF_POLLS, ...TABLES_OF_ACCOUNT]) {
    const [ours, theirs] = await Promise.all([readShape(from, name), readShape(to, name)]);
    if (JSON.stringify(ours) !== JSON.stringify(theirs)) found.push(`${name} differs: migrate both databases first`);
  }
  return found;
}

const POLLS_PER_PAGE = 100;

/** Copies everything that belongs to ended polls. Returns their number. */
async function copyPolls(ends: CopyEnds): Promise<number> {
  const { from, to, accountId } = ends;
  const ids = await pollIds(from, accountId);
  for (let at = 0; at < ids.length; at += POLLS_PER_PAGE) {
    const page = ids.slice(at, at + POLLS_PER_PAGE);
    await restoreMonths(to, page);
    for (const table of TABLES_OF_POLLS) await copyRowsOfPolls(ends, forAccount(table, accountId), page);
    await noteComing(to, accountId, page);
    await noteLeaving(from, page);
  }
  return ids.length;
}

/** The target may have dropped a month that contains polls of the account. */
async function restoreMonths({ db }: Queries, pollIds: readonly string[]): Promise<void> {
  const oneOfEach = new Map(pollIds.map((id) => [id.slice(0, 'ps_00'.length), id]));
  for (const id of oneOfEach.values()) await sql`select restore_month(${id})`.execute(db);
}

async function pollIds({ db }: Queries, accountId: string): Promise<string[]> {
  const rows = await db
    .selectFrom('polls')
    .select('id')
    .where('account_id', '=', accountId)
    .where('status', '<>', 'running')
    .orderBy('id')
    .execute();
  return rows.map(({ id }) => id);
}

/** Notes at the source where these results are, for when the account has left. */
const noteLeaving = ({ db }: Queries, pollIds: readonly string[]): Promise<unknown> =>
  sql`
  insert into moved_results (poll_id, result_id, account_id)
  select id, result_id, account_id from polls where id = any(${[...pollIds]}::text[])
  on conflict (poll_id) do update set account_id = excluded.account_id`.execute(db);

/**
 * The target marks these polls as moved (their holds stay in the source's ledger), and adds their labels and receipts.
 */
const noteComing = (to: Storage, accountId: string, pollIds: readonly string[]): Promise<unknown> =>
  to.db.transaction().execute(async (db) => {
    await fenceTarget({ db }, accountId);
    await sql`
  with noted as (
    insert into moved_results (poll_id, result_id, account_id, moved_on)
    select id, result_id, account_id, (now() at time zone 'utc')::date from polls where id = any(${[...pollIds]}::text[])
    on conflict (poll_id) do update set account_id = excluded.account_id, moved_on = excluded.moved_on),
  labels as (
    insert into poll_labels (account_id, label, created_at, poll_id)
    select account_id, label_of(pair.key, pair.value), created_at, id from polls, jsonb_each_text(metadata) pair
     where id = any(${[...pollIds]}::text[])
    on conflict do nothing)
  insert into receipt_leaves (day, leaf)
  select (now() at time zone 'utc')::date, receipt_leaf from results
   where poll_id = any(${[...pollIds]}::text[]) and receipt_leaf is not null
  on conflict do nothing`.execute(db);
  });

/** Empties polls at the target that were deleted at the source after they were copied. */
async function emptyDeleted({ from, to, accountId }: CopyEnds): Promise<void> {
  const kept = new Set(await pollIds(from, accountId));
  const gone = (await pollIds(to, accountId)).filter((id) => !kept.has(id));
  for (let at = 0; at < gone.length; at += POLLS_PER_PAGE) {
    await to.db.transaction().execute(async (db) => {
      await fenceTarget({ db }, accountId);
      await sql`select set_config('eloquentpoll.moving', 'on', true)`.execute(db);
      await sql`select empty_polls(${gone.slice(at, at + POLLS_PER_PAGE)}::text[])`.execute(db);
    });
  }
}

const EVERY_MS = 100;

async function drain({ accountId, from, to, drainS }: MoveTerms, move: AccountMove): Promise<void> {
  const until = performance.now() + drainS * 1_000;
  let changes = await readChanges(from.storage);
  for (;;) {
    if (changes.length > 0) changes = await readChanges(from.storage, changes);
    const open = await stillOpen(from.storage, accountId);
    if (isDrained(open) && changes.length === 0) return;
    if (performance.now() > until) {
      await abandonMove(from.storage, to, move);
      throw new MoveRefused(
        `${open.polls} polls, ${open.batches} batches and ${changes.length} transactions from before the freeze still run; ` +
          `the account goes on in cell ${from.name}`,
      );
    }
    await sleep(EVERY_MS);
  }
}

const isDrained = ({ polls, batches, heldU }: StillOpen): boolean => polls === 0 && batches === 0 && heldU === 0n;

async function whatMoved({ db }: Queries, moveId: string): Promise<Pick<Moved, 'amountU' | 'frozenMs'>> {
  const { rows } = await sql<{ amountU: bigint; frozenMs: number }>`
    select amount_u as "amountU", (extract(epoch from arrived_at - frozen_at) * 1000)::float8 as "frozenMs"
      from account_moves where id = ${moveId}`.execute(db);
  return rows[0]!;
}
