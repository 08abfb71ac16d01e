import { checkLedger, checkWholeLedger, type LedgerViolation, type Queries } from '@eloquentpoll/storage';
import { withDatabase } from './database-failure.ts';

// Checks the ledger: open entries and totals, or with --full also every closed page, poll and payment. It only reads,
// in chunks, so DATABASE_URL may name a replica. Prints one violation per line; the exit code is then 1. It is 2 if the
// ledger could not be checked.

const MAX_STATEMENT_MS = 120_000;
const [, , mode] = process.argv;
const { DATABASE_URL: databaseUrl } = process.env;
if (mode !== undefined && mode !== '--full') refuse(`${mode} is not known: use --full or nothing`);
if (!databaseUrl) refuse('DATABASE_URL is not set: give it a value such as postgres://user:password@host:5432/name');

const options = { databaseUrl, maxConnections: 1, statementTimeoutMs: MAX_STATEMENT_MS };
await withDatabase('check-ledger', options, async (storage) => {
  const violations = mode === '--full' ? await wholeLedger(storage) : await checkLedger(storage);
  for (const violation of violations) console.log(JSON.stringify(violation));
  console.error(violations.length === 0 ? 'the books balance' : `${violations.length} rules are violated`);
  process.exitCode = violations.length === 0 ? 0 : 1;
});

async function wholeLedger(queries: Queries): Promise<LedgerViolation[]> {
  const steps = checkWholeLedger(queries);
  for (let shown = ''; ; ) {
    const { done, value } = await steps.next();
    if (done) return value;
    const percent = Math.floor((100 * value.done) / value.of);
    const line = `${value.step}: ${percent} %`;
    if (line !== shown) console.error(line);
    shown = line;
  }
}

function refuse(why: string): never {
  console.error(`check-ledger: ${why}`);
  process.exit(2);
}
