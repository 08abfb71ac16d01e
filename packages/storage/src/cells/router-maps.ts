import { accountTag } from '@eloquentpoll/polls';
import type { CellDatabase } from './move-account.ts';
import { readMovedPlaces } from './moved-names.ts';

/** Files for a router: a line for each account and result that lives in another cell than its keys or ids suggest. */
export async function routerMaps(cells: readonly CellDatabase[]): Promise<{ accounts: string; results: string }> {
  const moved = new Map<string, Map<string, string>>();
  const results = new Map<string, string>();
  for (const { name, storage } of cells) {
    const places = await readMovedPlaces(storage);
    moved.set(name, new Map(places.accounts.map(({ accountId, cell }) => [accountId, cell])));
    for (const { resultId, accountId } of places.results) results.set(resultId, accountId);
  }
  /** The cell where the account lives: starts at any cell that it left and follows its moves. */
  function homeOf(accountId: string): string | null {
    let [home] = [...moved.values()].flatMap((places) => places.get(accountId) ?? []);
    for (let hop = 0; home !== undefined && hop < moved.size; hop++) {
      const next = moved.get(home)?.get(accountId);
      if (next === undefined) return home;
      home = next;
    }
    return null;
  }
  const accounts = new Set([...moved.values()].flatMap((places) => [...places.keys()]));
  const lines = (all: Iterable<[string, string | null]>): string =>
    [...all]
      .filter(([, home]) => home !== null)
      .map(([key, home]) => `${key} ${home};\n`)
      .toSorted()
      .join('');
  return {
    accounts: lines([...accounts].map((id) => [accountTag(id), homeOf(id)])),
    results: lines([...results].map(([id, accountId]) => [id, homeOf(accountId)])),
  };
}
