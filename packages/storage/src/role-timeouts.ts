import { GATEWAY_ROLE, WORKER_ROLE } from './grants.ts';

// Time limits for statements behind a pooler, which drops the settings of single connections. A worker's limits are
// long, because it checks the ledger.

const STATEMENT_TIMEOUTS: Readonly<Record<string, string>> = { [GATEWAY_ROLE]: '5s', [WORKER_ROLE]: '30s' };

/** Statements for a superuser, or for the role that created the apps' roles. */
export const roleTimeouts: readonly string[] = Object.entries(STATEMENT_TIMEOUTS).flatMap(([role, statement]) =>
  Object.entries({
    statement_timeout: statement,
    lock_timeout: '2s',
    idle_in_transaction_session_timeout: '10s',
  }).map(([name, value]) => `alter role ${role} set ${name} = '${value}'`),
);
