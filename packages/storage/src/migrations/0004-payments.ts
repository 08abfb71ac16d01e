import type { Migration } from './migration.ts';

// Money coming in. A row is written before anyone is asked to move money, and credited once: the ledger's idem is
// 'card:<processor session>' or 'deposit:<row id>', and check_ledger() compares both ways.
export const payments: Migration = {
  name: '0004-payments',
  sql: () => `
-- A card payment. One that is refunded or disputed is reversed, and reinstated when the dispute is won, so that the
-- ledger's sum is what the processor keeps.
-- moved: taken in another cell, before its account came here. held_back_u: what of it cannot be set aside for polls until settles_at; balances have the sum.
-- version: an answer of the processor is stored only if the row has not changed since the question was asked.
create table checkouts (
  id             uuid primary key default gen_random_uuid(),
  account_id     uuid not null references accounts,
  amount_cents   integer not null check (amount_cents between 100 and 100000),
  state          text not null default 'created' check (state in ('created', 'open', 'credited', 'expired', 'moved')),
  processor_id   text collate "C" unique,
  payment_intent text collate "C" unique,
  livemode       boolean,
  url            text,
  reversed_cents integer not null default 0,
  version        integer not null default 0,
  created_at     timestamptz not null default now(),
  updated_at     timestamptz not null default now(),
  checked_at     timestamptz not null default now(),
  credited_at    timestamptz,
  settles_at     timestamptz,
  held_back_u    bigint not null default 0 check (held_back_u >= 0),
  returned_at    timestamptz,  -- when a returning browser last made us ask the processor
  constraint checkouts_reversed
    check (reversed_cents between 0 and amount_cents and (reversed_cents = 0 or state in ('credited', 'moved')))
);
create index checkouts_open on checkouts (checked_at) where state in ('created', 'open');
create index checkouts_account on checkouts (account_id);
create index checkouts_held_back on checkouts (settles_at) where held_back_u > 0;

create table processor_events (
  id          text collate "C" primary key,
  type        text not null,
  received_at timestamptz not null default now()
);
create index processor_events_received on processor_events (received_at);

-- An on-chain authorization, keyed by its parsed bytes so that no spelling of it is a second one. The authorization is
-- what is unique, not the transaction: a facilitator may settle several in one.
-- settling: handed to the facilitator. settled: the chain has it. credited: so has the account. failed: no money moved.
-- check_at: the process that works on a deposit has it until then; afterwards another one checks what became of it.
-- closed_at: the account has the money, or the authorization can move none any more.
-- from_block: the head of the chain when the proof came in.
-- secret_hash: of the secret that came with the first submission; only who repeats it gets a key by a later one.
-- handed_at: when the proof went to a facilitator to be settled, or the chain showed it; it is public, and watched.
create table deposits (
  id           uuid primary key default gen_random_uuid(),
  chain_id     bigint not null,
  asset        bytea not null check (octet_length(asset) = 20),
  payer        bytea not null check (octet_length(payer) = 20),
  nonce        bytea not null check (octet_length(nonce) = 32),
  pay_to       bytea not null check (octet_length(pay_to) = 20),
  amount_u     bigint not null check (amount_u > 0),
  valid_before timestamptz not null,
  state        text not null default 'settling' check (state in ('settling', 'settled', 'credited', 'failed')),
  proof        jsonb not null,
  tx_hash      bytea check (octet_length(tx_hash) = 32),
  from_block   bigint not null default 0,
  secret_hash  bytea check (octet_length(secret_hash) = 32),
  handed_at    timestamptz,
  account_id   uuid references accounts,
  failure      text,
  attempts     integer not null default 0,
  created_at   timestamptz not null default now(),
  updated_at   timestamptz not null default now(),
  check_at     timestamptz not null default now(),
  closed_at    timestamptz,
  constraint deposits_once unique (chain_id, asset, payer, nonce),
  check (state <> 'credited' or (account_id is not null and tx_hash is not null))
);
create index deposits_watched on deposits (check_at) where closed_at is null;
create index deposits_failed on deposits (closed_at) where state = 'failed';

-- What moved at the processor, by payment: paid, refunded, disputed, given back. Kept as long as the checkouts.
create table card_movements (
  id             text collate "C" primary key,
  payment_intent text collate "C" not null,
  amount_cents   integer not null,
  created_at     timestamptz not null
);
create index card_movements_payment on card_movements (payment_intent);

-- How far our rows were compared with all that moved: 'chain <id> <asset> <payee>' counts blocks, 'card <base URL>'
-- seconds since 1970. Everything before proved_position was matched and adds up; from there to position it was matched,
-- and net_u is what it adds up to. A round that does not add up goes back to proved_position.
-- reached_at: the time of the chain, or of the processor, up to which all is proved.
create table money_scans (
  name             text collate "C" primary key,
  position         bigint not null,
  net_u            bigint not null default 0,
  proved_position  bigint not null,
  proved_balance_u bigint,
  created_at       timestamptz not null default now(),
  reached_at       timestamptz,
  due_at           timestamptz not null
);

-- Money that moved and that no row of ours explains. It is open until it is matched or an operator closes it.
-- reference: the transaction and the place of the transfer in it, or the processor's payment.
create table misfits (
  id            bigint generated always as identity primary key,
  source        text not null check (source in ('chain', 'card')),
  reference     text collate "C" not null,
  reason        text not null,
  amount_u      bigint not null,
  details       jsonb not null,
  first_seen_at timestamptz not null default now(),
  last_seen_at  timestamptz not null default now(),
  closed_at     timestamptz,
  closed_as     text check (closed_as in ('matched', 'ignored')),
  constraint misfits_once unique (source, reference),
  check ((closed_at is null) = (closed_as is null))
);
create index misfits_open on misfits (first_seen_at) where closed_at is null;
`,
};
