import { createHash } from 'node:crypto';

// What the roles of the apps may do, table by table. The migrating role owns everything. The apps' roles read
// everything, write what is listed here, and change the ledger only through functions that run as the owner. The
// previous release still needs a privilege that is no longer used: revoke it one release later.

export const GATEWAY_ROLE = 'eloquentpoll_gateway';
export const WORKER_ROLE = 'eloquentpoll_worker';
const ROLES = { gateway: GATEWAY_ROLE, worker: WORKER_ROLE } as const;
type App = keyof typeof ROLES;
export const APP_ROLES: readonly string[] = Object.values(ROLES);

/** Rights besides reading. A table that is not listed here can only be read. */
export const TABLE_GRANTS: Readonly<Record<string, Partial<Record<App, string>>>> = {
  accounts: { gateway: 'insert, update', worker: 'update (emptied_at)' },
  identities: { gateway: 'insert, update, delete' },
  api_keys: { gateway: 'insert, update, delete' },
  logins: { gateway: 'insert, update, delete' },
  nonces: { gateway: 'insert, update, delete' },
  saved_panels: { gateway: 'insert, update, delete' },
  balances: { gateway: 'insert (account_id), update (held_back_u, low_balance_u)' },
  polls: {
    gateway: 'update (lease_owner, lease_until, deadline_at)',
    worker: 'update (lease_owner, lease_epoch, lease_until, run_until, claims, spend_again_u)',
  },
  deleted_runs: { worker: 'delete' },
  batches: { gateway: 'update (runner_owner, runner_epoch, runner_until, moved_at)' },
  batch_reports: { gateway: 'insert, update' },
  usage_label_months: { gateway: 'delete', worker: 'delete' },
  usage_labels: { gateway: 'delete', worker: 'delete' },
  usage_names: { gateway: 'delete', worker: 'delete' },
  feedback: { gateway: 'insert, update, delete' },
  caller_days: { gateway: 'delete' },
  idempotency: { gateway: 'insert, update, delete' },
  checkouts: { gateway: 'insert, update' },
  card_movements: { gateway: 'insert' },
  processor_events: { gateway: 'insert' },
  deposits: { gateway: 'insert, update' },
  money_scans: { gateway: 'insert, update' },
  misfits: { gateway: 'insert, update' },
  dead_letters: { gateway: 'update (seen_at, retried_as)' },
  controls: { gateway: 'update' },
  operator_log: { gateway: 'insert' },
  model_evidence: { worker: 'insert, delete' },
  heartbeats: { gateway: 'insert', worker: 'insert' },
  roster_versions: { gateway: 'insert' },
  audits: { gateway: 'update (learned, counted), delete', worker: 'update (learned, counted), delete' },
  audit_draws: { gateway: 'delete', worker: 'delete' },
  audit_months: { gateway: 'update (tally), delete', worker: 'insert, update' },
  track_records: { gateway: 'delete', worker: 'insert, update, delete' },
  webhook_endpoints: { gateway: 'insert, update, delete' },
  webhook_events: { gateway: 'delete', worker: 'delete' },
  webhook_receivers: { gateway: 'update (failures, resting_until, is_quick, next_due_at)' },
  model_standings: { worker: 'update (failed, failed_at, passes, returns)' },
};

/** Tables with proofs of callers' identity, which workers do not need. */
const UNREAD_BY_WORKERS = ['identities', 'api_keys', 'logins', 'nonces', 'idempotency', 'moved_names'];

/** Functions that run as the owner, and the apps that may call them. An empty list: only other functions call it. */
export const FUNCTION_GRANTS: Readonly<Record<string, readonly App[]>> = {
  accept_poll: ['gateway'],
  accept_polls: ['gateway'],
  claim_poll_again: ['worker'],
  claim_several: ['worker'],
  end_poll: ['worker'],
  finish_polls: ['worker'],
  finish_poll: ['worker'],
  cancel_poll: ['gateway'],
  empty_polls: ['gateway', 'worker'],
  empty_expired_polls: ['worker'],
  expire_batch_polls: ['gateway'],
  open_batch: ['gateway'],
  add_batch_rows: ['gateway'],
  start_batch: ['gateway'],
  accept_batch_polls: ['gateway'],
  end_batch_poll: [],
  fail_batch_rows: ['gateway'],
  end_batch: ['gateway'],
  cancel_batch: ['gateway'],
  delete_batch: ['gateway', 'worker'],
  ledger_move: ['gateway'],
  set_key_limit: ['gateway'],
  ledger_hold: [],
  ledger_resolve: [],
  begin_ledger_check: ['worker'],
  end_ledger_check: ['worker'],
  close_books: ['worker'],
  verify_pages: ['worker'],
  seal_receipts: ['worker'],
  prune_expired: ['worker'],
  kept_too_long: ['gateway', 'worker'],
  claim_audit: ['worker'],
  finish_audit: ['worker'],
  claim_canary: ['worker'],
  finish_canary: ['worker'],
  spread_webhook_events: ['worker'],
  claim_webhook_deliveries: ['worker'],
  end_webhook_attempt: ['worker'],
  disable_webhook_endpoint: ['gateway'],
  resend_webhook_delivery: ['gateway'],
  test_webhook_endpoint: ['gateway'],
  forget_webhooks: ['gateway', 'worker'],
  forget_keys: ['gateway', 'worker'],
  has_keys: ['gateway', 'worker'],
  delete_deliveries: [],
  keep_months: ['worker'],
  drop_month: ['worker'],
};

/** The statements that grant each of `roles` exactly what is listed; the owner runs them. */
export function grantStatements(roles: readonly string[]): string {
  const apps = (Object.keys(ROLES) as App[]).filter((app) => roles.includes(ROLES[app]));
  return [...apps.map((app) => readEverything(ROLES[app])), ...apps.flatMap(grantsOf)].join(';\n');
}

/** Only our own objects: extensions may add functions to the schema. Partitions are read through their table. */
const readEverything = (role: string): string => `
do $grants$
declare
  v_name text;
begin
  for v_name in select oid::regclass from pg_class
                 where relnamespace = 'public'::regnamespace and relkind in ('r', 'p', 'v', 'S') and not relispartition
                   and pg_has_role(relowner, 'USAGE') loop
    execute format('revoke all on %s from ${role}; grant select on %1$s to ${role}', v_name);
  end loop;
  for v_name in select oid::regprocedure from pg_proc
                 where pronamespace = 'public'::regnamespace and pg_has_role(proowner, 'USAGE') loop
    execute format('revoke execute on function %s from public; grant execute on function %1$s to ${role}', v_name);
  end loop;
end $grants$`;

function grantsOf(app: App): string[] {
  const role = ROLES[app];
  const closed = Object.entries(FUNCTION_GRANTS).filter(([, callers]) => !callers.includes(app));
  return [
    `grant usage on schema public to ${role}`,
    ...(app === 'worker' ? [`revoke select on ${UNREAD_BY_WORKERS.join(', ')} from ${role}`] : []),
    ...Object.entries(TABLE_GRANTS).flatMap(([table, { [app]: rights }]) =>
      rights ? [`grant ${rights} on ${table} to ${role}`] : [],
    ),
    ...closed.map(([name]) => `revoke execute on function ${name} from ${role}`),
  ];
}

/**
 * Changes with the statements and the functions, so that grants are applied again when functions or roles have changed.
 */
export const grantsName = (statements: string, functions: string): string =>
  `grants-${createHash('sha256').update(functions).update(statements).digest('hex').slice(0, 16)}`;
