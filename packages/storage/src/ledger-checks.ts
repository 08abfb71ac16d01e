import { sql } from 'kysely';
import { checkLedger, type Violation } from './check-ledger.ts';
import { withLock } from './locks.ts';
import type { Queries, Storage } from './open-storage.ts';

// The ledger is checked by whoever comes first when it is due, and by one process at a time. A check that takes long is
// due less often, so that looking after the books is never more than a tenth of what Postgres does.

const PATIENCE_MS = 180_000;
const MOST_SHARE = 10;

/** Null when it is not due or somebody else is at it. What was found is noted for all. */
export async function checkLedgerInTurn(storage: Storage, everyMs: number): Promise<Violation[] | null> {
  if (!(await isDue(storage, everyMs))) return null;
  let found: Violation[] | null = null;
  await withLock(storage, 'ledger', PATIENCE_MS, async () => {
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
       where checked_at > now() - greatest(${everyMs}, took_ms * ${MOST_SHARE}) * interval '1 millisecond') as due`.execute(
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
