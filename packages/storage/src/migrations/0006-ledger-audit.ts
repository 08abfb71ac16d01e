import { functionText } from './function-text.ts';
import type { Migration } from './migration.ts';

// The audit of the ledger. Transfers are closed page by page once no earlier id can appear any more; pages make up UTC
// days, and a seal chains each day to the one before. What is closed is carried on as totals, so that a check reads what
// came since.
export const ledgerAudit: Migration = {
  name: '0006-ledger-audit',
  sql: () => `
-- proved: nothing was wrong with it when it was read last.
create table ledger_pages (
  last_id     bigint primary key,
  first_id    bigint not null unique,
  day         date not null,
  transfers   integer not null,
  hash        bytea not null check (octet_length(hash) = 32),
  proved      boolean not null,
  verified_at timestamptz not null default clock_timestamp(),
  check (first_id <= last_id)
);
create index ledger_pages_day on ledger_pages (day);
create index ledger_pages_verified on ledger_pages (proved, verified_at);

-- polls_kept: false once the polls of that day may be deleted; its transfers never are.
create table ledger_seals (
  day        date primary key,
  hash       bytea not null check (octet_length(hash) = 32),
  polls_kept boolean not null default true,
  sealed_at  timestamptz not null default clock_timestamp()
);

-- Each account's totals over a day, and over all that is closed.
-- card_u, chain_u: credits paid by card or on a chain. card_reversed_u: refunds and disputes, reinstatements taken off.
create table ledger_day_sums (
  day             date not null,
  account_id      uuid not null,
  posted_u        bigint not null,
  used_u          bigint not null,
  held_u          bigint not null,
  reversed_u      bigint not null,
  card_u          bigint not null,
  card_reversed_u bigint not null,
  chain_u         bigint not null,
  primary key (day, account_id)
);
create table ledger_sums (
  account_id      uuid primary key,
  posted_u        bigint not null,
  used_u          bigint not null,
  held_u          bigint not null,
  reversed_u      bigint not null,
  card_u          bigint not null,
  card_reversed_u bigint not null,
  chain_u         bigint not null
) with (fillfactor = 50);

-- Holds on closed pages that no closed page resolves.
create table ledger_open_holds (
  hold_id bigint primary key references transfers
);

-- How the checks go, one row that all processes show. checked_at: when the books were proved last; empty books are.
-- failures: attempts since then that timed out, failed or ended with their process. behind: pages wait to be closed.
create table ledger_checks (
  only_row     boolean primary key default true check (only_row),
  checked_at   timestamptz not null default now(),
  took_ms      integer not null default 0,
  violations   integer not null default 0,
  attempted_at timestamptz,
  failures     integer not null default 0,
  failure      text,
  behind       boolean not null default false
);
insert into ledger_checks default values;

${FUNCTIONS.map(functionText).join('\n')}
`,
};

const FUNCTIONS = [
  'closed_to',
  'final_transfer_id',
  'sum_transfers',
  'hash_transfers',
  'hash_day',
  'check_transfers',
  'check_seals',
  'check_page',
  'check_totals',
  'check_running',
  'check_keys',
  'check_polls',
  'check_payments',
  'check_sums',
  'check_ledger',
  'close_books',
  'verify_pages',
  'begin_ledger_check',
  'end_ledger_check',
];
