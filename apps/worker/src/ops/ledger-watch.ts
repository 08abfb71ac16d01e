import { setTimeout as wait } from 'node:timers/promises';
import type { Logger } from '@eloquentpoll/ops';
import { checkLedgerInTurn, openStorage } from '@eloquentpoll/storage';

// The books are audited while the service runs: by one worker at a time, on connections of its own, because the audit
// reads every transfer and may take longer than anything else is allowed to.

const LONGEST_MS = 120_000;
const LAST_WORDS_MS = 1_000;

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
    statementTimeoutMs: LONGEST_MS,
  });

  async function look(): Promise<void> {
    while (!stop.signal.aborted) {
      // Not all workers at the same moment.
      const pause = everyMs * (0.4 + Math.random() * 0.2);
      await wait(pause, undefined, { signal: stop.signal, ref: false }).catch(() => {});
      if (stop.signal.aborted) return;
      try {
        const violations = await checkLedgerInTurn(auditor, everyMs);
        if (violations && violations.length > 0) log.error({ rules: tally(violations) }, 'the ledger is wrong');
      } catch (error) {
        log.warn({ err: error }, 'ledger not checked');
      }
    }
  }

  const looking = look();
  return {
    async [Symbol.asyncDispose]() {
      stop.abort();
      await Promise.race([looking, wait(LAST_WORDS_MS, undefined, { ref: false })]);
      await Promise.race([auditor[Symbol.asyncDispose](), wait(LAST_WORDS_MS, undefined, { ref: false })]);
    },
  };
}

/** Which rules, and how often; whom it concerns is for `select * from check_ledger()`. */
function tally(violations: readonly { rule: string }[]): Record<string, number> {
  const byRule = Map.groupBy(violations, ({ rule }) => rule);
  return Object.fromEntries([...byRule].map(([rule, list]) => [rule, list.length]));
}
