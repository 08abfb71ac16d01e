import { setTimeout as wait } from 'node:timers/promises';
import type pg from 'pg';

// One process at a time migrates a database, under an advisory lock of its session. The lock ends with the session: the
// others wait for as long as that takes, and say who holds it.

const MIGRATION_LOCK = 7_205_759_403;
/** A migration without online steps has mostly ended by then. */
const FIRST_WORD_MS = 3_000;
const EVERY_MS = 60_000;

/** The session that migrates. */
export interface MigratingSession {
  pid: number;
  application: string | null;
  /** When the session began; null if our role may not see it. */
  since: Date | null;
  /** Such as `active` or `idle`; null if our role may not see it. */
  state: string | null;
  stateSince: Date | null;
}

/** Retries in a loop: waiting for the lock would keep a transaction open, which a step may have to wait for. */
export async function waitForTurn(client: pg.Client, sayHolder: (holder: MigratingSession) => void): Promise<void> {
  for (let sayAt = performance.now() + FIRST_WORD_MS; ; ) {
    const { rows } = await client.query<{ mine: boolean }>('select pg_try_advisory_lock($1) as mine', [MIGRATION_LOCK]);
    if (rows[0]!.mine) return;
    if (performance.now() >= sayAt) {
      const holder = await holderOf(client);
      if (holder) sayHolder(holder);
      sayAt = performance.now() + EVERY_MS;
    }
    await wait(50 + 100 * Math.random());
  }
}

/** Null if it has just ended. Of a lock with one number, Postgres shows each half in a column. */
async function holderOf(client: pg.Client): Promise<MigratingSession | null> {
  const { rows } = await client.query<MigratingSession>(
    `select l.pid, a.application_name as application, a.backend_start as since, a.state, a.state_change as "stateSince"
       from pg_locks l left join pg_stat_activity a using (pid)
      where l.locktype = 'advisory' and l.objsubid = 1 and l.granted
        and l.database = (select oid from pg_database where datname = current_database())
        and (l.classid::bigint << 32 | l.objid::bigint) = $1`,
    [MIGRATION_LOCK],
  );
  return rows[0] ?? null;
}
