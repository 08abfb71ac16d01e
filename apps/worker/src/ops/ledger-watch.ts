import { type Logger, repeat, withTimeout } from '@eloquentpoll/ops';
import { checkLedgerInTurn, type LedgerRound, openStorage } from '@eloquentpoll/storage';

// Audits the ledger while the service runs: one worker at a time, on connections of its own, because some of its
// statements take longer than any other.

const MAX_STATEMENT_MS = 30_000;
const SHUTDOWN_GRACE_MS = 1_000;
/** After a round that closed pages there may be more of them. */
const CATCHING_UP_MS = 2_000;

export function watchLedger(
  databaseUrl: string,
  everyMs: number,
  log: Pick<Logger, 'info' | 'error' | 'warn'>,
): AsyncDisposable {
  const auditor = openStorage({
    databaseUrl,
    maxConnections: 2,
    applicationName: 'eloquentpoll-auditor',
    statementTimeoutMs: MAX_STATEMENT_MS,
  });

  const auditing = repeat(
    async () => {
      const round = await checkLedgerInTurn(auditor, everyMs);
      if (round) report(round, log);
      return round && round.pages > 0 ? Math.min(CATCHING_UP_MS, everyMs / 2) : undefined;
    },
    // Twice as often as a check is due: each worker finds some that no other has made.
    { everyMs: everyMs / 2, onError: (err) => log.warn({ err }, 'ledger.check_failed') },
  );
  return {
    async [Symbol.asyncDispose]() {
      await auditing[Symbol.asyncDispose]();
      await withTimeout(auditor[Symbol.asyncDispose](), SHUTDOWN_GRACE_MS).catch(() => {});
    },
  };
}

function report({ violations, seals }: LedgerRound, log: Pick<Logger, 'info' | 'error'>): void {
  for (const seal of seals) log.info(seal, 'ledger.day_sealed');
  if (violations.length > 0) log.error({ rules: tally(violations) }, 'ledger.invariant_violated');
}

/** Which rules, and how often; `select * from check_ledger()` lists the accounts. */
function tally(violations: readonly { rule: string }[]): Record<string, number> {
  const byRule = Map.groupBy(violations, ({ rule }) => rule);
  return Object.fromEntries([...byRule].map(([rule, list]) => [rule, list.length]));
}
