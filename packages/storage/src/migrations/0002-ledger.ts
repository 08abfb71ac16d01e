import type { Migration } from './migration.ts';

// Money: integer micro-USD, double entry, append-only, two-phase holds. A transfer is written once and corrected by
// another transfer; a hold is resolved at most once, by a unique index. Only user accounts and the free pool carry a
// running balance. Revenue and funding are derived from the transfers when asked: a balance row that every finishing
// poll updates would make them queue behind each other. For the same reason transfers do not reference accounts by
// foreign key (that locks the shared row); check_ledger() reports a transfer that names an unknown account.
export const ledger: Migration = {
  name: '0002-ledger',
  sql: `
insert into accounts (id, kind) values
  ('00000000-0000-4000-8000-000000000001', 'free_pool'),
  ('00000000-0000-4000-8000-000000000002', 'revenue'),
  ('00000000-0000-4000-8000-000000000003', 'funding'),  -- the operator
  ('00000000-0000-4000-8000-000000000004', 'funding'),  -- cards
  ('00000000-0000-4000-8000-000000000005', 'funding');  -- on-chain deposits

-- available = posted_u - held_u. It may be negative only after a reversal took back money that was already spent
-- (allow_negative); such an account gets no new hold until credits lift it again. used_u = sum of captures.
create table balances (
  account_id     uuid primary key references accounts,
  posted_u       bigint not null default 0,
  held_u         bigint not null default 0 check (held_u >= 0),
  used_u         bigint not null default 0 check (used_u >= 0),
  allow_negative boolean not null default false,
  topped_up_on   date,
  constraint balances_available check (posted_u - held_u >= 0 or allow_negative)
) with (fillfactor = 50);

insert into balances (account_id) values ('00000000-0000-4000-8000-000000000001');

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
  check ((kind in ('post', 'void')) = (pending_id is not null))
);
create unique index transfers_resolved_once on transfers (pending_id) where kind in ('post', 'void');

create function refuse_rewrite() returns trigger language plpgsql as $$
begin
  raise exception '% is append-only', tg_table_name using errcode = 'EP001';
end $$;
create trigger transfers_append_only before update or delete on transfers
  for each row execute function refuse_rewrite();
create trigger transfers_no_truncate before truncate on transfers
  for each statement execute function refuse_rewrite();
revoke update, delete, truncate on transfers from public;

-- true: the money is set aside. false: not enough, nothing happened.
create function ledger_hold(p_account uuid, p_amount_u bigint, p_idem text, p_poll_id text) returns boolean
language plpgsql as $$
begin
  update balances set held_u = held_u + p_amount_u
   where account_id = p_account and posted_u - held_u >= p_amount_u and not allow_negative;
  if not found then
    return false;
  end if;
  insert into transfers (idem, kind, debit, credit, amount_u, poll_id)
  values (p_idem, 'hold', p_account, '00000000-0000-4000-8000-000000000002', p_amount_u, p_poll_id);
  return true;
end $$;

-- Captures p_amount_u of a hold and releases the rest; 0 releases all. false: this hold was resolved before.
create function ledger_resolve(p_hold_idem text, p_amount_u bigint) returns boolean
language plpgsql as $$
declare
  hold transfers;
begin
  select * into hold from transfers where idem = p_hold_idem and kind = 'hold';
  if not found then
    raise exception 'no hold %', p_hold_idem using errcode = 'EP002';
  end if;
  if p_amount_u < 0 or p_amount_u > hold.amount_u then
    raise exception 'a capture of % does not fit into hold % of %', p_amount_u, p_hold_idem, hold.amount_u
      using errcode = 'EP003';
  end if;
  insert into transfers (idem, kind, debit, credit, amount_u, pending_id, poll_id)
  values ('resolve:' || hold.id, case when p_amount_u = 0 then 'void' else 'post' end, hold.debit, hold.credit,
          case when p_amount_u = 0 then hold.amount_u else p_amount_u end, hold.id, hold.poll_id)
  on conflict do nothing;
  if not found then
    return false;
  end if;
  update balances
     set posted_u = posted_u - p_amount_u,
         used_u = used_u + p_amount_u,
         held_u = held_u - hold.amount_u,
         allow_negative = allow_negative and posted_u - p_amount_u - (held_u - hold.amount_u) < 0
   where account_id = hold.debit;
  if not found then
    raise exception 'account % has no balance', hold.debit using errcode = 'EP002';
  end if;
  return true;
end $$;

-- Moves p_amount_u from a funding account to p_account, or back when p_kind is 'reversal'.
-- false: a transfer with this idem and the same content exists; with other content it is an error.
create function ledger_move(p_kind text, p_account uuid, p_funding uuid, p_amount_u bigint, p_idem text)
returns boolean language plpgsql as $$
declare
  back boolean := p_kind = 'reversal';
begin
  if p_kind not in ('credit', 'top_up', 'reversal') then
    raise exception 'no such movement: %', p_kind using errcode = 'EP002';
  end if;
  insert into transfers (idem, kind, debit, credit, amount_u)
  values (p_idem, p_kind, case when back then p_account else p_funding end,
          case when back then p_funding else p_account end, p_amount_u)
  on conflict (idem) do nothing;
  if not found then
    perform 1 from transfers
      where idem = p_idem and kind = p_kind and amount_u = p_amount_u
        and p_account = case when back then debit else credit end
        and p_funding = case when back then credit else debit end;
    if not found then
      raise exception 'transfer % exists with other content', p_idem using errcode = 'EP004';
    end if;
    return false;
  end if;
  update balances
     set posted_u = posted_u + case when back then -p_amount_u else p_amount_u end,
         allow_negative = case when back then posted_u - p_amount_u - held_u < 0
                               else allow_negative and posted_u + p_amount_u - held_u < 0 end
   where account_id = p_account;
  if not found then
    raise exception 'account % has no balance', p_account using errcode = 'EP002';
  end if;
  return true;
end $$;
`,
};
