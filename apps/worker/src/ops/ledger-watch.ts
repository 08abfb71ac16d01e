import { type Logger, repeat, withTimeout } from '@eloquentpoll/ops';
import { checkLedgerInTurn, type LedgerRound, openStorage } from '@eloquentpoll/storage';

// Checks the ledger while the service runs, one worker at a time. It has its own connections, because some of its
// statements take longer than all others.

const MAX_STATEMENT_MS = 30_000;
const SHUTDOWN_GRACE_MS = 1_000;
/** Pause after a round that closed pages, because there may be more to close. */
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
    // Twice as often as a check is due, so that a due check is found soon whichever worker made the last one.
    { everyMs: everyMs / 2, onError: (err) => log.warn({ err }, 'ledger.check_failed') },
  );
  return {
    async [Symbol.asyncDispose]() {
      await auditing[Symbol.asyncDispose]();
      await withTimeout(auditor[Symbol.asyncDispose](), SHUTDOWN_GRACE_MS).catch(() => {});
    },
  };
}

function report({ violations, seals }: LedgerRound, log: Pick<Logger, 'info' | 'error' | 'warn'>): void {
  for (const seal of seals) log.info(seal, 'ledger.day_sealed');
  // No money is wrong when polls only end late, as after an outage.
  const { poll_overdue: polls, ...rules } = tally(violations);
  if (polls) log.warn({ polls }, 'ledger.polls_overdue');
  if (Object.keys(rules).length > 0) log.error({ rules }, 'ledger.invariant_violated');
}

/** Counts the violations of each rule. `select * from check_ledger()` lists the accounts. */
function tally(violations: readonly { rule: string }[]): Record<string, number> {
  const byRule = Map.groupBy(violations, ({ rule }) => rule);
  return Object.fromEntries([...byRule].map(([rule, list]) => [rule, list.length]));
}
