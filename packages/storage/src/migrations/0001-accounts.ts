import type { Migration } from './migration.ts';

// Who may use the service and how they prove it. Deleting an account empties its row and keeps it, because the ledger
// and public results still point at the id.
export const accounts: Migration = {
  name: '0001-accounts',
  sql: () => `
-- frozen_at: keys and logins are refused until an operator unfreezes it. deleted_at: closed for good; emptied_at: and
-- nothing is left of what it asked.
create table accounts (
  id         uuid primary key default gen_random_uuid(),
  kind       text not null default 'user' check (kind in ('user', 'free_pool', 'audit_pool', 'revenue', 'funding')),
  email      text,
  created_at timestamptz not null default now(),
  frozen_at  timestamptz,
  deleted_at timestamptz,
  emptied_at timestamptz
);
create index accounts_to_empty on accounts (deleted_at) where deleted_at is not null and emptied_at is null;

-- An address is 20 bytes, so that every spelling of one wallet is one row. An e-mail address is no identity.
-- has_own_key: the address has signed with a private key of its own, so no contract may ever answer for it.
create table identities (
  id          uuid primary key default gen_random_uuid(),
  account_id  uuid not null references accounts,
  kind        text not null check (kind in ('oidc', 'wallet')),
  issuer      text,
  subject     text,
  address     bytea check (octet_length(address) = 20),
  has_own_key boolean not null default false,
  created_at  timestamptz not null default now(),
  check (case kind when 'oidc' then issuer is not null and subject is not null and address is null
                   else address is not null and issuer is null and subject is null end)
);
create unique index identities_oidc on identities (issuer, subject) where kind = 'oidc';
create unique index identities_wallet on identities (address) where kind = 'wallet';
create index identities_account on identities (account_id);

-- hash is an HMAC under a pepper that is not in the database; pepper_id names the pepper, for rotation.
create table api_keys (
  id           uuid primary key default gen_random_uuid(),
  account_id   uuid not null references accounts,
  hash         bytea not null unique,
  pepper_id    smallint not null default 1,
  prefix       text not null check (char_length(prefix) <= 10),
  label        text not null default '' check (char_length(label) <= 64),
  last_used_at timestamptz,
  expires_at   timestamptz,
  revoked_at   timestamptz,
  created_at   timestamptz not null default now()
);
create index api_keys_account on api_keys (account_id, created_at desc);

-- A signed-in browser: the row that an ep_session cookie names. Logging out ends it everywhere.
create table logins (
  id           uuid primary key default gen_random_uuid(),
  account_id   uuid not null references accounts,
  identity_id  uuid references identities on delete set null,
  created_at   timestamptz not null default now(),
  last_seen_at timestamptz not null default now(),
  expires_at   timestamptz not null,
  ended_at     timestamptz
);
create index logins_account on logins (account_id);
create index logins_expiry on logins (expires_at);

-- A wallet challenge. purpose binds the signature to one action where the caller asked for that. Open challenges are
-- limited per address and asker, so that no other asker can evict the one that a wallet's owner is about to sign.
create table nonces (
  nonce      text collate "C" primary key,
  address    bytea not null check (octet_length(address) = 20),
  asker      bytea not null default '',
  purpose    text,
  message    text not null,
  created_at timestamptz not null default now(),
  expires_at timestamptz not null,
  used_at    timestamptz
);
create index nonces_address on nonces (address, asker, created_at);
create index nonces_expiry on nonces (expires_at);

-- Panels that an account named; polls are frozen with their models, so that changing one changes no poll.
create table saved_panels (
  account_id uuid not null references accounts,
  name       text collate "C" not null check (char_length(name) between 1 and 40),
  models     text[] not null check (cardinality(models) between 3 and 15),
  updated_at timestamptz not null default now(),
  primary key (account_id, name)
);
`,
};
