import type { Migration } from './migration.ts';

// Money coming in. Each row is written before the outside world is asked to move anything, and credited once: the
// ledger's idem is 'card:<processor session>' or 'deposit:<row id>', and check_ledger() compares both ways.
export const payments: Migration = {
  name: '0004-payments',
  sql: `
create table checkout_sessions (
  id             uuid primary key default gen_random_uuid(),
  account_id     uuid not null references accounts,
  amount_cents   integer not null check (amount_cents between 100 and 100000),
  state          text not null default 'created' check (state in ('created', 'open', 'credited', 'expired')),
  processor_id   text collate "C" unique,
  payment_intent text collate "C" unique,
  livemode       boolean,
  url            text,
  created_at     timestamptz not null default now(),
  updated_at     timestamptz not null default now(),
  credited_at    timestamptz
);
create index checkout_sessions_open on checkout_sessions (created_at) where state in ('created', 'open');
create index checkout_sessions_account on checkout_sessions (account_id);

create table webhook_events (
  id          text collate "C" primary key,
  type        text not null,
  received_at timestamptz not null default now()
);

-- An on-chain authorization, keyed by its parsed bytes so that no spelling of it is a second one.
-- settling: handed to the facilitator. settled: the chain has it. credited: so has the account. failed: no money moved.
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
  tx_hash      bytea unique check (octet_length(tx_hash) = 32),
  account_id   uuid references accounts,
  failure      text,
  attempts     integer not null default 0,
  created_at   timestamptz not null default now(),
  updated_at   timestamptz not null default now(),
  constraint deposits_once unique (chain_id, asset, payer, nonce),
  check (state <> 'credited' or (account_id is not null and tx_hash is not null))
);
create index deposits_unfinished on deposits (updated_at) where state in ('settling', 'settled');
`,
};
