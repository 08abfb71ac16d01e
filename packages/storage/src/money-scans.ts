import { sql } from 'kysely';
import type { Queries } from './open-storage.ts';

// How far a comparison of our rows with the money that really moved has come. Any process may continue it; each step is
// a compare-and-set of the position, so that two processes at once skip nothing.

export interface MoneyScan {
  name: string;
  /** The first block or second that has not been compared. */
  position: bigint;
  /** The net amount that moved in our favour since the last proof. */
  netU: bigint;
  provedPosition: bigint;
  /** The balance at the last proof, if one was read. */
  provedBalanceU: bigint | null;
}

/** Another process takes over a round that neither ends nor fails within this time. */
const LEASE_S = 90;

const columns = ['name', 'position', 'net_u', 'proved_position', 'proved_balance_u'] as const;

/** Position of a scan whose `start` has not succeeded yet. */
const NOT_BEGUN = -1n;

/**
 * Gives the scan to one process for a while, if a round is due. `start` says where a new scan begins. Its row is made
 * before that, so that a scan that never begins ages from its first attempt and not from the last start of a process.
 */
export async function claimScan(
  queries: Queries,
  name: string,
  start: () => Promise<bigint>,
): Promise<MoneyScan | null> {
  const { db } = queries;
  const known = await db.selectFrom('money_scans').select('position').where('name', '=', name).executeTakeFirst();
  if (!known) {
    // Never due: no process takes it up before it has begun.
    await db
      .insertInto('money_scans')
      .values({ name, position: NOT_BEGUN, proved_position: NOT_BEGUN, due_at: sql<Date>`'infinity'` })
      .onConflict((conflict) => conflict.doNothing())
      .execute();
  }
  if (!known || known.position === NOT_BEGUN) {
    const position = await start();
    await db
      .updateTable('money_scans')
      .set({ position, proved_position: position, due_at: sql<Date>`now()` })
      .where('name', '=', name)
      .where('position', '=', NOT_BEGUN)
      .execute();
  }
  const row = await db
    .updateTable('money_scans')
    .set({ due_at: inSeconds(LEASE_S) })
    .where('name', '=', name)
    .where('due_at', '<=', sql<Date>`now()`)
    .returning(columns)
    .executeTakeFirst();
  return row ? toScan(row) : null;
}

/** Everything before `position` was compared. Null if another process was faster. */
export async function advanceScan(
  { db }: Queries,
  scan: MoneyScan,
  { position, netU }: Pick<MoneyScan, 'position' | 'netU'>,
): Promise<MoneyScan | null> {
  const row = await db
    .updateTable('money_scans')
    .set({ position, net_u: netU, due_at: inSeconds(LEASE_S) })
    .where('name', '=', scan.name)
    .where('position', '=', scan.position)
    .returning(columns)
    .executeTakeFirst();
  return row ? toScan(row) : null;
}

/** The comparison adds up: the next round begins here, in `everyS` seconds. */
export async function proveScan(
  { db }: Queries,
  scan: MoneyScan,
  proof: { balanceU: bigint | null; reachedAt: Date; everyS: number },
): Promise<void> {
  await db
    .updateTable('money_scans')
    .set({
      net_u: 0n,
      proved_position: scan.position,
      proved_balance_u: proof.balanceU,
      reached_at: proof.reachedAt,
      due_at: inSeconds(proof.everyS),
    })
    .where('name', '=', scan.name)
    .where('position', '=', scan.position)
    .execute();
}

/** The comparison does not add up: the next round compares everything since the last proof again. */
export async function rewindScan({ db }: Queries, scan: MoneyScan): Promise<void> {
  await db
    .updateTable('money_scans')
    .set({ position: scan.provedPosition, net_u: 0n })
    .where('name', '=', scan.name)
    .where('position', '=', scan.position)
    .execute();
}

/** Up to when everything was compared and adds up; for a scan that never added up, when it was first attempted. */
export async function scanReachedAt({ db }: Queries, name: string): Promise<Date | null> {
  const row = await db
    .selectFrom('money_scans')
    .select(['reached_at', 'created_at'])
    .where('name', '=', name)
    .executeTakeFirst();
  return row ? (row.reached_at ?? row.created_at) : null;
}

const inSeconds = (seconds: number) => sql<Date>`now() + ${seconds} * interval '1 second'`;

interface Row {
  name: string;
  position: bigint;
  net_u: bigint;
  proved_position: bigint;
  proved_balance_u: bigint | null;
}

function toScan(row: Row): MoneyScan {
  return {
    name: row.name,
    position: row.position,
    netU: row.net_u,
    provedPosition: row.proved_position,
    provedBalanceU: row.proved_balance_u,
  };
}
