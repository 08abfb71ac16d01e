import { accountTag } from '@eloquentpoll/polls';
import type { CellDatabase } from './move-account.ts';
import { readMovedPlaces } from './moved-names.ts';

/** Files for a router: one line for each account and result that lives elsewhere than its keys, cookies and ids may say. */
export async function routerMaps(cells: readonly CellDatabase[]): Promise<{ accounts: string; results: string }> {
  const moved = new Map<string, Map<string, string>>();
  const results = new Map<string, string>();
  for (const { name, storage } of cells) {
    const places = await readMovedPlaces(storage);
    moved.set(name, new Map(places.accounts.map(({ accountId, cell }) => [accountId, cell])));
    for (const { resultId, accountId } of places.results) results.set(resultId, accountId);
  }
  /** Where it lives: from any cell that it left, move by move. */
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
