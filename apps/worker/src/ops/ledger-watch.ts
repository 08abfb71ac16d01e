import { setTimeout as wait } from 'node:timers/promises';
import { type Logger, withTimeout } from '@eloquentpoll/ops';
import { checkLedgerInTurn, openStorage } from '@eloquentpoll/storage';

// Audits the ledger while the service runs: one worker at a time, on connections of its own, because the audit reads
// every transfer and may take longer than any other statement.

const MAX_CHECK_MS = 120_000;
const SHUTDOWN_GRACE_MS = 1_000;

export function watchLedger(
  databaseUrl: string,
  everyMs: number,
  log: Pick<Logger, 'error' | 'warn'>,
): AsyncDisposable {
  const stop = new AbortController();
  const auditor = openStorage({
    databaseUrl,
    maxConnections: 2,
    applicationName: 'eloquentpoll-auditor',
    statementTimeoutMs: MAX_CHECK_MS,
  });

  async function audit(): Promise<void> {
    while (!stop.signal.aborted) {
      // Not all workers at the same moment.
      const pause = everyMs * (0.4 + Math.random() * 0.2);
      await wait(pause, undefined, { signal: stop.signal, ref: false }).catch(() => {});
      if (stop.signal.aborted) return;
      try {
        const violations = await checkLedgerInTurn(auditor, everyMs);
        if (violations && violations.length > 0) log.error({ rules: tally(violations) }, 'ledger.invariant_violated');
      } catch (error) {
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

/** Which rules, and how often; `select * from check_ledger()` lists the accounts. */
function tally(violations: readonly { rule: string }[]): Record<string, number> {
  const byRule = Map.groupBy(violations, ({ rule }) => rule);
  return Object.fromEntries([...byRule].map(([rule, list]) => [rule, list.length]));
}
