import type { Migration } from './migration.ts';

// Polls and what becomes of them. A poll row is the whole request, frozen at accept, plus the lease of whoever runs
// it. Results keep the wire response in detail and repeat in columns what is listed and counted.
export const polls: Migration = {
  name: '0003-polls',
  sql: `
-- account_id is the owner: null for an anonymous poll and after the owner left. The fillfactor leaves room for lease
-- updates on the same page; no index mentions a lease column, so they stay heap-only.
create table polls (
  id             text collate "C" primary key,
  result_id      text collate "C" not null constraint polls_result_id unique,
  account_id     uuid references accounts,
  status         text not null default 'running' check (status in ('running', 'completed', 'failed')),
  schema_version smallint not null default 1,
  spec           jsonb not null,
  surface        text not null,
  request_id     text,
  traceparent    text,
  lease_owner    text,
  lease_epoch    integer not null default 0,
  lease_until    timestamptz not null,
  attempts       integer not null default 0,
  created_at     timestamptz not null default now(),
  deadline_at    timestamptz not null,
  finished_at    timestamptz,
  check ((status = 'running') = (finished_at is null))
) with (fillfactor = 80);
create index polls_running on polls (deadline_at) where status = 'running';
create index polls_account on polls (account_id) where account_id is not null;

create table results (
  poll_id          text collate "C" primary key references polls,
  result_id        text collate "C" not null unique,
  account_id       uuid,
  status           text not null check (status in ('success', 'partial', 'failed')),
  poll_type        text not null default 'fptp',
  panel_name      text not null,
  surface          text not null,
  simulated        boolean not null,
  winning_option   text,
  is_tie           boolean not null,
  early_terminated boolean not null,
  termination_reason text,
  models_requested smallint not null,
  models_succeeded smallint not null,
  models_failed    smallint not null,
  models_skipped   smallint not null,
  total_cost_u     bigint not null check (total_cost_u >= 0),
  gather_ms        integer not null,
  total_ms         integer not null,
  detail           jsonb not null,
  created_at       timestamptz not null default now()
);
create index results_account on results (account_id, created_at desc, poll_id) where account_id is not null;
create index results_created on results (created_at);

-- Written once, by the statement that ends the poll. Only a vote is ever billed.
create table votes (
  poll_id         text collate "C" not null,
  seat            smallint not null,
  model_id        text not null,
  option          smallint,
  error           text,
  latency_ms      integer not null,
  billed_u        bigint not null check (billed_u >= 0),
  provider_cost_u bigint,
  attempts        smallint not null,
  searched        boolean not null,
  labels          text[] not null,
  primary key (poll_id, seat),
  constraint votes_only_votes_billed check (billed_u = 0 or option is not null)
);

-- One opinion per account and poll: a second one replaces the first. The rate survives the account that gave it.
create table feedback (
  id              uuid primary key default gen_random_uuid(),
  account_id      uuid references accounts,
  poll_id         text collate "C" not null references polls,
  outcome_correct boolean,
  confidence      double precision check (confidence between 0 and 1),
  notes           text,
  created_at      timestamptz not null default now(),
  updated_at      timestamptz not null default now(),
  unique (account_id, poll_id)
);
create index feedback_poll on feedback (poll_id, created_at desc);

-- An Idempotency-Key and what it stands for: a poll (poll_id), or the sealed response of another operation.
-- claimed_until: another attempt may take the key over once its holder had its time and left no response.
create table idempotency (
  principal     text collate "C" not null,
  operation     text collate "C" not null,
  key           text collate "C" not null check (octet_length(key) <= 255),
  fingerprint   text collate "C" not null,
  poll_id       text collate "C",
  claim         uuid,
  claimed_until timestamptz,
  response      bytea,
  created_at    timestamptz not null default now(),
  expires_at    timestamptz not null,
  primary key (principal, operation, key)
);
create index idempotency_expiry on idempotency (expires_at);

create table dead_letters (
  id         bigint generated always as identity primary key,
  poll_id    text collate "C" not null,
  reason     text not null,
  attempts   integer not null,
  created_at timestamptz not null default now()
);

-- One row per service and minute in which at least one of its processes was alive.
create table heartbeats (
  service text collate "C" not null,
  minute  timestamptz not null,
  primary key (service, minute)
);
`,
};
