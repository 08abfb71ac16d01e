import { sql } from 'kysely';
import type { CellDatabase } from './move-account.ts';

/**
 * After several moves, makes each cell that the account left name the cell where it lives now, because a router follows
 * only one step. Considers only the given cells; returns how many entries were changed.
 */
export async function leadHome(cells: readonly CellDatabase[]): Promise<number> {
  const moved = new Map<string, Map<string, string>>();
  for (const { name, storage } of cells) {
    const { rows } = await sql<{ id: string; cell: string }>`
      select id, moved_to as cell from accounts a
       where moved_to is not null
         and exists (select from account_moves m
                      where m.account_id = a.id and m.direction = 'out' and m.state in ('left', 'arrived'))`.execute(
      storage.db,
    );
    moved.set(name, new Map(rows.map(({ id, cell }) => [id, cell])));
  }
  let changed = 0;
  for (const { name, storage } of cells) {
    for (const [id, next] of moved.get(name)!) {
      const home = endOf(moved, id, next);
      if (home === next || home === name) continue;
      // Only if the entry is unchanged and the account has not come back.
      const { numAffectedRows } = await sql`
        update accounts set moved_to = ${home} where id = ${id} and moved_to = ${next}`.execute(storage.db);
      changed += Number(numAffectedRows ?? 0n);
    }
  }
  return changed;
}

function endOf(moved: ReadonlyMap<string, ReadonlyMap<string, string>>, id: string, from: string): string {
  let home = from;
  for (let hop = 0; hop < moved.size; hop++) home = moved.get(home)?.get(id) ?? home;
  return home;
}
