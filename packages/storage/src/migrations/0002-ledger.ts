import { FUNDING, REVENUE } from '../system-accounts.ts';
import { functionText } from './function-text.ts';
import type { Migration } from './migration.ts';

const FUNDING_ACCOUNTS = Object.values(FUNDING)
  .map((id) => `'${id}'`)
  .join(', ');

// Money: integer micro-USD, double entry, append-only, two-phase holds. A transfer is corrected by another transfer; a
// hold is resolved at most once, by a unique index.
export const ledger: Migration = {
  name: '0002-ledger',
  sql: () => `
insert into accounts (id, kind) values
  ('00000000-0000-4000-8000-000000000001', 'free_pool'),
  ('00000000-0000-4000-8000-000000000002', 'revenue'),
  ('00000000-0000-4000-8000-000000000003', 'funding'),  -- the operator
  ('00000000-0000-4000-8000-000000000004', 'funding'),  -- cards
  ('00000000-0000-4000-8000-000000000005', 'funding');  -- on-chain deposits

-- Only user accounts and the free pool carry a running balance. Revenue and funding are derived from the transfers
-- when asked: finishing polls would queue behind a balance row that each of them updates.
-- available = posted_u - held_u - reserved_u. posted_u - held_u may be negative only after a reversal took back money that was already spent
-- (allow_negative); such an account gets no new hold until credits lift it again. used_u = sum of captures; used_today_u
-- and used_yesterday_u are those of the UTC day used_on and of the day before.
-- held_back_u: available, and not to be held, because the card that paid it has not settled (checkouts).
-- reserved_u: set aside for open batches, whose polls draw their holds from it (batches).
create table balances (
  account_id     uuid primary key references accounts,
  posted_u       bigint not null default 0,
  held_u         bigint not null default 0 check (held_u >= 0),
  used_u         bigint not null default 0 check (used_u >= 0),
  held_back_u    bigint not null default 0 check (held_back_u >= 0),
  reserved_u     bigint not null default 0 check (reserved_u >= 0),
  allow_negative boolean not null default false,
  topped_up_on   date,
  used_on          date,
  used_today_u     bigint not null default 0,
  used_yesterday_u bigint not null default 0,
  constraint balances_available check (posted_u - held_u >= 0 or allow_negative)
) with (fillfactor = 50);
create index balances_negative on balances (account_id) where allow_negative;
create index balances_held_back on balances (account_id) where held_back_u > 0;

insert into balances (account_id) values ('00000000-0000-4000-8000-000000000001');

-- Accounts are not referenced by foreign key, because that locks the shared row; check_ledger() reports a transfer
-- that names an unknown account.
-- credit: funding -> account.  reversal: account -> funding.  top_up: funding -> free pool.
-- hold: account -> revenue, moves nothing yet.  post: captures part or all of a hold.  void: releases all of it.
create table transfers (
  id         bigint generated always as identity primary key,
  idem       text collate "C" not null constraint transfers_idem unique,
  kind       text not null check (kind in ('credit', 'reversal', 'top_up', 'hold', 'post', 'void')),
  debit      uuid not null,
  credit     uuid not null,
  amount_u   bigint not null constraint transfers_amount check (amount_u > 0 and amount_u <= 1000000000000000),
  pending_id bigint references transfers,
  poll_id    text collate "C",
  created_at timestamptz not null default now(),
  check (debit <> credit),
  check ((kind in ('post', 'void')) = (pending_id is not null)),
  -- With transfers_idem: one hold for each poll, one resolution for each hold.
  constraint transfers_names check (case
    when kind = 'hold' then poll_id is null or idem = 'hold:' || poll_id
    when kind in ('post', 'void') then idem = 'resolve:' || pending_id::text
    else poll_id is null end),
  constraint transfers_parties check (case
    when kind in ('credit', 'top_up') then debit in (${FUNDING_ACCOUNTS})
    when kind = 'reversal' then credit in (${FUNDING_ACCOUNTS})
    else credit = '${REVENUE}' end)
);
-- What an account paid in and spent, in order: a hold leads to what became of it.
create index transfers_debit on transfers (debit, id) where kind in ('hold', 'reversal');
create index transfers_credit on transfers (credit, id) where kind = 'credit';
create unique index transfers_resolved_once on transfers (pending_id) where kind in ('post', 'void');

${functionText('refuse_rewrite')}
create trigger transfers_append_only before update or delete on transfers
  for each row execute function refuse_rewrite();
create trigger transfers_no_truncate before truncate on transfers
  for each statement execute function refuse_rewrite();
revoke update, delete, truncate on transfers from public;

${functionText('ledger_hold')}
${functionText('ledger_resolve')}
${functionText('ledger_move')}
`,
};
