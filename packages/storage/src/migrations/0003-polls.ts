import { functionText } from './function-text.ts';
import type { Migration } from './migration.ts';

// A poll row is the whole request, frozen when it was accepted, and its lease. A result keeps the response as it was
// sent (detail) and repeats in columns what is listed and counted.
export const polls: Migration = {
  name: '0003-polls',
  sql: () => `
-- account_id is the owner: null for an anonymous poll and after the owner left. tenant is whose running polls are
-- counted together: an account, or the keyed hash of an anonymous caller's network. key_id: the API key that asked, for
-- the limit of each key. claims counts how often a worker took the poll. The fillfactor leaves space for lease updates on
-- the same page; no index has a lease column, so they stay heap-only.
create table polls (
  id             text collate "C" primary key,
  result_id      text collate "C" not null constraint polls_result_id unique,
  account_id     uuid references accounts,
  tenant         text collate "C",
  key_id         uuid,
  status         text not null default 'running' check (status in ('running', 'completed', 'failed')),
  schema_version smallint not null default 1,
  spec           jsonb not null,
  entry_point    text not null,
  request_id     text,
  traceparent    text,
  lease_owner    text,
  lease_epoch    integer not null default 0,
  lease_until    timestamptz not null,
  claims         integer not null default 0,
  created_at     timestamptz not null default now(),
  deadline_at    timestamptz not null,
  finished_at    timestamptz,
  check ((status = 'running') = (finished_at is null))
) with (fillfactor = 80);
create index polls_running on polls (deadline_at) where status = 'running';
create index polls_running_tenant on polls (tenant) where status = 'running';
create index polls_account on polls (account_id) where account_id is not null;

-- detail is json, not jsonb: a response comes back with its members in the order in which it was sent.
create table results (
  poll_id            text collate "C" primary key references polls,
  result_id          text collate "C" not null unique,
  account_id         uuid,
  status             text not null check (status in ('success', 'partial', 'failed')),
  poll_type          text not null default 'fptp',
  panel_name         text not null,
  entry_point        text not null,
  simulated          boolean not null,
  winning_option     text,
  is_tie             boolean not null,
  early_terminated   boolean not null,
  termination_reason text,
  models_requested   smallint not null,
  models_succeeded   smallint not null,
  models_failed      smallint not null,
  models_skipped     smallint not null,
  total_cost_u       bigint not null check (total_cost_u >= 0),
  gather_ms          integer not null,
  total_ms           integer not null,
  detail             json not null,
  created_at         timestamptz not null default now()
);
create index results_account on results (account_id, created_at desc, poll_id) where account_id is not null;
create index results_created on results (created_at);

-- Written once, by the statement that ends the poll. Only a valid vote is ever billed.
-- calls: exchanges with the provider, retries and repair included.
create table votes (
  poll_id         text collate "C" not null references polls,
  seat            smallint not null,
  model_id        text not null,
  option          smallint,
  error           text,
  latency_ms      integer not null,
  billed_u        bigint not null check (billed_u >= 0),
  provider_cost_u bigint,
  calls           smallint not null,
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
-- claimed_until: another request may take the key over after this time if its holder left no response.
create table idempotency (
  principal     text collate "C" not null,
  entry_point   text collate "C" not null,
  key           text collate "C" not null check (octet_length(key) <= 255),
  fingerprint   text collate "C" not null,
  poll_id       text collate "C",
  claim         uuid,
  claimed_until timestamptz,
  response      bytea,
  created_at    timestamptz not null default now(),
  expires_at    timestamptz not null,
  primary key (principal, entry_point, key)
);
create index idempotency_expiry on idempotency (expires_at);

${functionText('top_up_free_pool')}
${functionText('accept_poll')}
${functionText('finish_poll')}
`,
};
