import { setTimeout as wait } from 'node:timers/promises';
import { type Logger, withTimeout } from '@eloquentpoll/ops';
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
  const stop = new AbortController();
  const auditor = openStorage({
    databaseUrl,
    maxConnections: 2,
    applicationName: 'eloquentpoll-auditor',
    statementTimeoutMs: MAX_STATEMENT_MS,
  });

  async function audit(): Promise<void> {
    let round: LedgerRound | null = null;
    while (!stop.signal.aborted) {
      // Not all workers at the same moment.
      const usual = everyMs * (0.4 + Math.random() * 0.2);
      const pause = round && round.pages > 0 ? Math.min(CATCHING_UP_MS, usual) : usual;
      await wait(pause, undefined, { signal: stop.signal, ref: false }).catch(() => {});
      if (stop.signal.aborted) return;
      try {
        round = await checkLedgerInTurn(auditor, everyMs);
        if (round) report(round, log);
      } catch (error) {
        round = null;
        log.warn({ err: error }, 'ledger.check_failed');
      }
    }
  }

  const auditing = audit();
  return {
    async [Symbol.asyncDispose]() {
      stop.abort();
      await withTimeout(auditing, SHUTDOWN_GRACE_MS).catch(() => {});
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
