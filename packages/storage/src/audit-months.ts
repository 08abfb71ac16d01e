import { addedSaid, EMPTY_SAID, type SaidPoll, type SaidTally, saidTally } from '@eloquentpoll/evidence';
import type { AskingOrder } from '@eloquentpoll/voting';
import { sql } from 'kysely';
import { type Audit, toAudit } from './audits.ts';
import type { Queries, Storage } from './open-storage.ts';
import { type RosterRow, type RosterVersion, toRosterVersion } from './roster-versions.ts';
import { inTransaction } from './transaction.ts';

// Confidence that audited polls stated, compared with what came true, per roster version, order and UTC month. An audit
// is counted once, before its track record's window deletes it. Sums of audits that are still kept can be recomputed.

/** False when there was nothing to count. */
export function countAudits(storage: Storage, limit = 500): Promise<boolean> {
  return inTransaction(storage, async ({ db }) => {
    const rows = await db
      .updateTable('audits')
      .set({ counted: true })
      .where('id', 'in', (uncounted) =>
        uncounted
          .selectFrom('audits')
          .select('id')
          .where('counted', '=', false)
          .orderBy('id')
          .limit(limit)
          .forUpdate()
          .skipLocked(),
      )
      .returningAll()
      .execute();
    if (rows.length === 0) return false;
    const audits = rows.map(toAudit);
    const rosters = await rostersOf({ db }, audits);
    // All processes take the groups in the same order, so that they cannot deadlock.
    const groups = [...Map.groupBy(audits, keyOf)].toSorted(([a], [b]) => (a < b ? -1 : 1));
    for (const [, group] of groups) {
      const { rosterVersion, askedOrder, createdAt } = group[0]!;
      const roster = rosters.get(rosterVersion)!;
      const tally = group.map((audit) => saidTally(saidPollOf(roster, audit))).reduce(addedSaid, EMPTY_SAID);
      await add({ db }, { rosterVersion, askedOrder, month: monthOf(createdAt) }, tally);
    }
    return true;
  });
}

interface Key {
  rosterVersion: string;
  askedOrder: AskingOrder;
  month: string;
}

const monthOf = (at: Date): string => at.toISOString().slice(0, 7);
const keyOf = ({ rosterVersion, askedOrder, createdAt }: Audit): string =>
  `${rosterVersion} ${askedOrder} ${monthOf(createdAt)}`;

async function add({ db }: Queries, { rosterVersion, askedOrder, month }: Key, tally: SaidTally): Promise<void> {
  await db
    .insertInto('audit_months')
    .values({ roster_version: rosterVersion, asked_order: askedOrder, month, tally: JSON.stringify(EMPTY_SAID) })
    .onConflict((same) => same.doNothing())
    .execute();
  const row = db
    .selectFrom('audit_months')
    .select('tally')
    .where('roster_version', '=', rosterVersion)
    .where('asked_order', '=', askedOrder)
    .where('month', '=', month)
    .forUpdate();
  const before = await row.executeTakeFirstOrThrow();
  await db
    .updateTable('audit_months')
    .set({ tally: JSON.stringify(addedSaid(before.tally, tally)) })
    .where('roster_version', '=', rosterVersion)
    .where('asked_order', '=', askedOrder)
    .where('month', '=', month)
    .execute();
}

async function rostersOf({ db }: Queries, audits: readonly Audit[]): Promise<Map<string, RosterVersion>> {
  const versions = [...new Set(audits.map(({ rosterVersion }) => rosterVersion))];
  const rows = await db.selectFrom('roster_versions').selectAll().where('version', 'in', versions).execute();
  return new Map(rows.map((row) => [row.version, toRosterVersion(row)]));
}

const saidPollOf = ({ models }: RosterVersion, audit: Audit): SaidPoll => ({
  panelSize: models.length,
  optionCount: audit.optionCount,
  votes: audit.votes,
  said: audit.said,
  winner: audit.winner,
  stoppedFor: audit.reason === 'confidence' ? audit.threshold : null,
});

/** Recomputes the sums of which every audit is still kept, for use after the calculation changed. Returns how many. */
export async function recountAudits({ db }: Queries): Promise<number> {
  const { rows } = await sql<{ sums: number }>`
    with kept as (
      select roster_version, asked_order, to_char(created_at at time zone 'utc', 'YYYY-MM') as month, count(*) as audits
        from audits where counted group by 1, 2, 3
    ), gone as (
      update audit_months m set tally = ${JSON.stringify(EMPTY_SAID)}::jsonb from kept k
       where m.roster_version = k.roster_version and m.asked_order = k.asked_order and m.month = k.month
         and (m.tally ->> 'audits')::integer <= k.audits
      returning m.roster_version, m.asked_order, m.month
    ), freed as (
      update audits a set counted = false from gone g
       where a.roster_version = g.roster_version and a.asked_order = g.asked_order
         and to_char(a.created_at at time zone 'utc', 'YYYY-MM') = g.month
    )
    select count(*)::integer as sums from gone`.execute(db);
  return rows[0]!.sums;
}

export interface AuditMonth {
  roster: RosterVersion;
  /** When the roster version was first seen. */
  since: Date;
  askedOrder: AskingOrder;
  month: string;
  tally: SaidTally;
  /** Audits that were drawn and not made. */
  unmade: number;
}

const MAX_MONTHS = 24;

/** The newest months, newest first. */
export async function readAuditMonths({ db }: Queries, { simulated }: { simulated: boolean }): Promise<AuditMonth[]> {
  const { rows } = await sql<
    RosterRow & { created_at: Date; asked_order: AskingOrder; month: string; tally: SaidTally; unmade: number }
  >`
    select r.*, m.asked_order, m.month, m.tally, m.unmade
      from audit_months m join roster_versions r on r.version = m.roster_version
     where r.simulated = ${simulated}
       and m.month > to_char((now() - make_interval(months => ${MAX_MONTHS})) at time zone 'utc', 'YYYY-MM')
     order by m.month desc, r.created_at desc, m.asked_order`.execute(db);
  return rows.map((row) => ({
    roster: toRosterVersion(row),
    since: row.created_at,
    askedOrder: row.asked_order,
    month: row.month,
    tally: row.tally,
    unmade: row.unmade,
  }));
}
