import { sql } from 'kysely';
import type { Queries } from '../open-storage.ts';
import type { CellDatabase } from './move-account.ts';

export interface CellsCompared {
  moves: number;
  leftU: bigint;
  arrivedU: bigint;
  /** Left but not arrived: a move in progress, or one that was interrupted. */
  underWay: string[];
  /** Arrived according to the source, but unknown to the target: its database is older than the arrival. */
  lost: string[];
  /** Moves whose account or amount differs between the cells. */
  wrong: string[];
}

interface Half {
  id: string;
  accountId: string;
  fromCell: string;
  toCell: string;
  amountU: bigint;
  state: 'left' | 'arrived';
}

/** Compares what left each cell with what arrived in the others. check_ledger() compares moves with a cell's ledger. */
export async function compareCells(cells: readonly CellDatabase[]): Promise<CellsCompared> {
  const names = new Set(cells.map(({ name }) => name));
  async function leaving(): Promise<Half[]> {
    const all: Half[] = [];
    for (const { storage, name } of cells)
      all.push(...(await halves(storage, 'out')).filter((half) => half.fromCell === name && names.has(half.toCell)));
    return all;
  }
  // Departures are read before and after arrivals, so that a move that ends meanwhile looks neither lost nor wrong.
  const out = await leaving();
  const arrived = new Map<string, Half>();
  for (const { storage, name } of cells) {
    for (const half of await halves(storage, 'in')) {
      if (half.toCell === name && names.has(half.fromCell)) arrived.set(half.id, half);
    }
  }
  const known = new Set((await leaving()).map(({ id }) => id));
  const missing = out.filter(({ id }) => !arrived.has(id));
  const sum = (all: Iterable<Half>): bigint => [...all].reduce((total, { amountU }) => total + amountU, 0n);
  return {
    moves: out.length,
    leftU: sum(out),
    arrivedU: sum(arrived.values()),
    underWay: missing.filter(({ state }) => state === 'left').map(({ id }) => id),
    lost: missing.filter(({ state }) => state === 'arrived').map(({ id }) => id),
    wrong: [
      ...out.filter((half) => arrived.has(half.id) && !isSame(half, arrived.get(half.id)!)).map(({ id }) => id),
      ...[...arrived.keys()].filter((id) => !known.has(id)),
    ],
  };
}

const isSame = (a: Half, b: Half): boolean =>
  a.accountId === b.accountId && a.amountU === b.amountU && a.fromCell === b.fromCell && a.toCell === b.toCell;

async function halves({ db }: Queries, direction: 'out' | 'in'): Promise<Half[]> {
  const { rows } = await sql<Half>`
    select id, account_id as "accountId", from_cell as "fromCell", to_cell as "toCell", amount_u as "amountU", state
      from account_moves where direction = ${direction} and state in ('left', 'arrived')`.execute(db);
  return rows;
}
