import type { AuditState } from '@eloquentpoll/evidence';
import { sql } from 'kysely';
import { type Audit, toAudit } from './audits.ts';
import type { Queries, Storage } from './open-storage.ts';
import { type RosterRow, type RosterVersion, toRosterVersion } from './roster-versions.ts';
import { inTransaction } from './transaction.ts';

// What the audits of a roster version show. The record is derived: a process adds audits that are not in it yet, and
// removes those that fall out of the window and deletes them. A row lock ensures that this happens once per audit.

/** How many audits a record remembers; older ones are deleted. */
export const AUDIT_WINDOW = 5_000;

/** The input from which a track record is updated. The state is JSON of `auditBook`. */
export interface Lesson {
  roster: RosterVersion;
  /** Null if there is no record yet. */
  state: AuditState | null;
  entered: Audit[];
  forgotten: Audit[];
}

/** Updates the track record of one roster version. False if there is nothing to add, or another process is doing it. */
export function learnAudits(
  storage: Storage,
  teach: (lesson: Lesson) => AuditState,
  { limit = 200, window = AUDIT_WINDOW } = {},
): Promise<boolean> {
  return inTransaction(storage, async ({ db }) => {
    const next = await db
      .selectFrom('audits')
      .select('roster_version')
      .where('learned', '=', false)
      .orderBy('id')
      .limit(1)
      .executeTakeFirst();
    if (!next) return false;
    const version = next.roster_version;
    await db
      .insertInto('track_records')
      .values({ roster_version: version, state: sql`'null'::jsonb` })
      .onConflict((conflict) => conflict.doNothing())
      .execute();
    const record = await db
      .selectFrom('track_records')
      .select(['state', 'audits', 'learned'])
      .where('roster_version', '=', version)
      .forUpdate()
      .skipLocked()
      .executeTakeFirst();
    if (!record) return false;

    const roster = await db
      .selectFrom('roster_versions')
      .selectAll()
      .where('version', '=', version)
      .executeTakeFirstOrThrow();
    const entered = await db
      .updateTable('audits')
      .set({ learned: true })
      .where('id', 'in', (unlearned) =>
        unlearned
          .selectFrom('audits')
          .select('id')
          .where('roster_version', '=', version)
          .where('learned', '=', false)
          .orderBy('id')
          .limit(limit),
      )
      .returningAll()
      .execute();
    const surplus = Math.max(0, record.learned + entered.length - window);
    const forgotten = await db
      .deleteFrom('audits')
      .where('id', 'in', (oldest) =>
        oldest
          .selectFrom('audits')
          .select('id')
          .where('roster_version', '=', version)
          .where('learned', '=', true)
          .where('counted', '=', true)
          .orderBy('id')
          .limit(surplus),
      )
      .returningAll()
      .execute();
    if (forgotten.length > 0)
      await db
        .deleteFrom('audit_draws')
        .where(
          'poll_id',
          'in',
          forgotten.map(({ poll_id }) => poll_id),
        )
        .execute();
    const state = teach({
      roster: toRosterVersion(roster),
      state: record.state as AuditState | null,
      entered: entered.map(toAudit).toSorted(byAge),
      forgotten: forgotten.map(toAudit),
    });
    await db
      .updateTable('track_records')
      .set({
        state: JSON.stringify(state),
        audits: record.audits + entered.length,
        learned: record.learned + entered.length - forgotten.length,
        updated_at: sql`clock_timestamp()`,
      })
      .where('roster_version', '=', version)
      .execute();
    return true;
  });
}

const byAge = (a: Audit, b: Audit): number => Number(a.id - b.id);

/** Restarts the record from the audits that are kept or, with `forget`, without any. False if there is no record. */
export function restartTrackRecord(storage: Storage, version: string, { forget = false } = {}): Promise<boolean> {
  return inTransaction(storage, async ({ db }) => {
    const known = await db
      .deleteFrom('track_records')
      .where('roster_version', '=', version)
      .returning('roster_version')
      .executeTakeFirst();
    if (forget) {
      await db.deleteFrom('audits').where('roster_version', '=', version).execute();
      await db.deleteFrom('audit_draws').where('roster_version', '=', version).execute();
    } else await db.updateTable('audits').set({ learned: false }).where('roster_version', '=', version).execute();
    return known !== undefined;
  });
}

export interface StoredTrackRecord {
  roster: RosterVersion;
  /** How many audits were ever added; the state remembers the newest `AUDIT_WINDOW` of them. */
  audits: number;
  state: AuditState;
  updatedAt: Date;
}

/** Null if it has no audits. The state is returned as stored: check it before using it for decisions. */
export async function readTrackRecord(queries: Queries, version: string): Promise<StoredTrackRecord | null> {
  return (await trackRecords(queries, [version]))[0] ?? null;
}

export const readTrackRecords = (queries: Queries): Promise<StoredTrackRecord[]> => trackRecords(queries, null);

async function trackRecords({ db }: Queries, versions: string[] | null): Promise<StoredTrackRecord[]> {
  const { rows } = await sql<RosterRow & { audits: number; state: AuditState; updated_at: Date }>`
    select r.*, t.audits, t.state, t.updated_at
      from track_records t join roster_versions r on r.version = t.roster_version
     where ${versions}::text[] is null or t.roster_version = any(${versions}::text[])
     order by t.updated_at desc`.execute(db);
  return rows.map((row) => ({
    roster: toRosterVersion(row),
    audits: row.audits,
    state: row.state,
    updatedAt: row.updated_at,
  }));
}
