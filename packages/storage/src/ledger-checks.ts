import { sql } from 'kysely';
import { checkLedger, type LedgerViolation } from './check-ledger.ts';
import { withLock } from './locks.ts';
import type { Queries, Storage } from './open-storage.ts';

// One process at a time checks the ledger when a check is due. A long check is due less often, so that checks take at
// most a tenth of Postgres' time.

const LOCK_TERM_MS = 180_000;
const MIN_PAUSE_FACTOR = 10;

/** Null when it is not due or another process is checking. The outcome is stored for all processes. */
export async function checkLedgerInTurn(storage: Storage, everyMs: number): Promise<LedgerViolation[] | null> {
  if (!(await isDue(storage, everyMs))) return null;
  let found: LedgerViolation[] | null = null;
  await withLock(storage, 'ledger', LOCK_TERM_MS, async () => {
    if (!(await isDue(storage, everyMs))) return;
    const began = performance.now();
    found = await checkLedger(storage);
    await note(storage, Math.round(performance.now() - began), found.length);
  });
  return found;
}

async function isDue({ db }: Queries, everyMs: number): Promise<boolean> {
  const { rows } = await sql<{ due: boolean }>`
    select not exists (
      select from ledger_checks
       where checked_at > now() - greatest(${everyMs}, took_ms * ${MIN_PAUSE_FACTOR}) * interval '1 millisecond') as due`.execute(
    db,
  );
  return rows[0]!.due;
}

async function note({ db }: Queries, tookMs: number, violations: number): Promise<void> {
  await sql`
    insert into ledger_checks (checked_at, took_ms, violations) values (now(), ${tookMs}, ${violations})
    on conflict (only_row) do update
      set checked_at = excluded.checked_at, took_ms = excluded.took_ms, violations = excluded.violations`.execute(db);
}
