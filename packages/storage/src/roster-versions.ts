import type { PanelName } from '@eloquentpoll/contracts';
import type { AskingOrder } from '@eloquentpoll/voting';
import type { Queries } from './open-storage.ts';

/** A panel and the asking order in its roster file; audits are counted per roster version. */
export interface RosterVersion {
  /** The hash of all other fields. */
  version: string;
  panelName: PanelName;
  order: AskingOrder;
  /** Its polls ask the variants with web search. */
  search: boolean;
  simulated: boolean;
  /** Cheapest first if that is the order. Audits refer to seats by position in this list. */
  models: readonly { readonly modelId: string; readonly family: string }[];
}

/** True if it was not known before. */
export async function noteRosterVersion({ db }: Queries, roster: RosterVersion): Promise<boolean> {
  const { numInsertedOrUpdatedRows } = await db
    .insertInto('roster_versions')
    .values({
      version: roster.version,
      panel_name: roster.panelName,
      asking_order: roster.order,
      search: roster.search,
      simulated: roster.simulated,
      models: roster.models.map(({ modelId }) => modelId),
      families: roster.models.map(({ family }) => family),
    })
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirst();
  return numInsertedOrUpdatedRows === 1n;
}

/** Newest first. */
export async function readRosterVersions({ db }: Queries): Promise<(RosterVersion & { createdAt: Date })[]> {
  const rows = await db.selectFrom('roster_versions').selectAll().orderBy('created_at', 'desc').execute();
  return rows.map((row) => ({ ...toRosterVersion(row), createdAt: row.created_at }));
}

export interface RosterRow {
  version: string;
  panel_name: PanelName;
  asking_order: AskingOrder;
  search: boolean;
  simulated: boolean;
  models: string[];
  families: string[];
}

export const toRosterVersion = (row: RosterRow): RosterVersion => ({
  version: row.version,
  panelName: row.panel_name,
  order: row.asking_order,
  search: row.search,
  simulated: row.simulated,
  models: row.models.map((modelId, seat) => ({ modelId, family: row.families[seat]! })),
});
