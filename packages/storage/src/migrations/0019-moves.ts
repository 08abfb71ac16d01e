import { FUNDING } from '../system-accounts.ts';
import { functionText } from './function-text.ts';
import type { Migration } from './migration.ts';

// Accounts that move between cells, each with a database of its own. The operator's command works on both as their owner;
// here is what each cell keeps of a move, and what refuses changes to an account meanwhile.
export const moves: Migration = {
  name: '0019-moves',
  sql: () => `
insert into accounts (id, kind) values ('${FUNDING.cells}', 'funding');

-- moving_at: a move has begun, and nothing of the account may change. moved_to: the cell where it lives; here it is closed
-- (deleted_at), and until keep_until its rows are kept.
alter table accounts add column moving_at timestamptz;
alter table accounts add column moved_to text collate "C";
alter table accounts add column keep_until timestamptz;
create index accounts_moved on accounts (keep_until) where moved_to is not null;

-- One row in either cell. amount_u: what the account took along, negative where it owed. facts: what the target needs of the
-- ledger of the source. kind: the account, or money that reached the source after it had left.
-- copying: both serve as before. frozen: nothing changes. left: by the source it is gone. arrived: the target has it.
create table account_moves (
  id         uuid primary key,
  account_id uuid not null,
  direction  text not null check (direction in ('out', 'in')),
  kind       text not null check (kind in ('account', 'rest')),
  from_cell  text collate "C" not null,
  to_cell    text collate "C" not null,
  state      text not null check (state in ('copying', 'frozen', 'left', 'arrived', 'abandoned')),
  amount_u   bigint not null default 0,
  facts      jsonb not null default '{}',
  created_at timestamptz not null default now(),
  frozen_at  timestamptz,
  left_at    timestamptz,
  arrived_at timestamptz
);
create unique index account_moves_open on account_moves (account_id)
  where direction = 'out' and state in ('copying', 'frozen', 'left');

-- What leads to an account that has left: hashes of its keys and identities, ids of its logins. See name_of_key and others.
create table moved_names (
  name       text collate "C" primary key,
  account_id uuid not null
);
create index moved_names_account on moved_names (account_id);

-- Polls that came or left with their account: where their results are, and whose holds are in another cell's ledger.
-- moved_on: when it came; from that day on its receipt is looked for. Null where it only left.
create table moved_results (
  poll_id    text collate "C" primary key,
  result_id  text collate "C" not null unique,
  account_id uuid not null,
  moved_on   date
);
create index moved_results_account on moved_results (account_id);

-- What polls of a day were charged in other cells: contained in usage_days, not in this ledger.
create table moved_usage (
  account_id uuid not null,
  day        date not null,
  cost_u     bigint not null,
  primary key (account_id, day)
);
-- The same for all days, beside used_u.
alter table balances add column used_elsewhere_u bigint not null default 0;

${FUNCTIONS.map(functionText).join('\n')}

${FENCES.map(([table, when]) => `create trigger ${table}_moving before ${when} on ${table}`)
  .map(
    (head, i) =>
      `${head}\n  for each row ${FENCES[i]![2] ?? ''} execute function refuse_while_moving('${FENCES[i]![3] ?? 'account_id'}');`,
  )
  .join('\n')}
`,
};

const FUNCTIONS = [
  'refuse_moved',
  'refuse_while_moving',
  'leave_cell',
  'arrive_in_cell',
  'check_moves',
  'accept_poll',
  'check_totals',
  'check_ledger',
  'check_polls',
  'check_usage',
  'prune_webhooks',
];

// What callers change of an account. Polls are refused by accept_poll; what workers do of their own accord (retention, last
// use, failing endpoints) goes on, and the target does the same.
const FENCES: readonly [table: string, event: string, when?: string, column?: string][] = [
  ['accounts', 'update of email, frozen_at, deleted_at', 'when (old.moving_at is not null)', 'id'],
  ['identities', 'insert or delete'],
  ['api_keys', 'insert or delete or update of label, expires_at, revoked_at, read_only'],
  ['logins', 'insert or update of ended_at'],
  ['saved_panels', 'insert or update or delete'],
  ['webhook_endpoints', 'insert or delete or update of url, description, event_types, secret'],
  ['batches', 'insert or update of status', "when (new.status in ('loading', 'deleted'))"],
  ['balances', 'update of low_balance_u'],
  [
    'polls',
    'update of account_id',
    'when (old.account_id is not null and new.account_id is null and (old.expires_at is null or old.expires_at > now()))',
  ],
  ['feedback', 'insert or update or delete'],
];
