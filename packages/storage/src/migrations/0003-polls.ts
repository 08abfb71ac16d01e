import { functionText } from './function-text.ts';
import type { Migration } from './migration.ts';

// A poll row is the whole request, frozen when it was accepted, and its lease. A result keeps the response as it was
// sent (detail) and repeats in columns what is listed and counted.
export const polls: Migration = {
  name: '0003-polls',
  sql: () => `
-- account_id is the owner: null for an anonymous poll and after the owner left. tenant is whose running polls are
-- counted together: an account, or the keyed hash of an anonymous caller's network. key_id: the API key that asked, for
-- the limit of each key. awaited: its caller waits for the end. context_id: what the caller of an agent's task groups it
-- by. batch_id, batch_line: the row of a batch that it answers.
-- metadata: labels of the caller's own. is_close: a vote more or
-- less could have changed its outcome. claims counts how often a worker took the poll. The fillfactor leaves space for lease updates on the same page; no
-- index has a lease column, so they stay heap-only.
-- provider_max_u: what providers may charge for it, set aside in the row spend_shard of provider_spend. provider_cost_u:
-- what they did, as far as it is known, the calls that a stop aborted included. unvoted_u: what the free pool paid for
-- calls that brought no stored vote. audit_version: it was drawn for an audit of this roster version, which its caller never
-- sees. lane: the queue that it waits in. run_limit_ms: how long a worker may run it, from its claim to run_until; null where
-- deadline_at is the only limit. expires_at: from then on nothing of it can be read; an ended one is emptied soon after, and has none
-- any more.
create table polls (
  id             text collate "C" primary key,
  result_id      text collate "C" not null constraint polls_result_id unique,
  account_id     uuid references accounts,
  tenant         text collate "C",
  key_id         uuid,
  awaited        boolean not null default false,
  status         text not null default 'running' check (status in ('running', 'completed', 'failed')),
  schema_version smallint not null default 1,
  spec           jsonb not null,
  entry_point    text not null,
  request_id     text,
  traceparent    text,
  context_id     text,
  batch_id       text collate "C",
  batch_line     integer,
  metadata       jsonb,
  is_close       boolean not null default false,
  lease_owner    text,
  lease_epoch    integer not null default 0,
  lease_until    timestamptz not null,
  claims         integer not null default 0,
  created_at     timestamptz not null default now(),
  deadline_at    timestamptz not null,
  lane           text collate "C" not null default 'standard' check (lane in ('standard', 'flex')),
  run_limit_ms   integer,
  run_until      timestamptz,
  finished_at    timestamptz,
  canceled_at    timestamptz,
  expires_at     timestamptz,
  provider_max_u  bigint,
  spend_shard     smallint,
  audit_version   text,
  provider_cost_u bigint,
  aborted_calls   integer not null default 0,
  aborted_cost_u  bigint not null default 0,
  unvoted_u       bigint not null default 0,
  check ((status = 'running') = (finished_at is null))
) with (fillfactor = 80);
create index polls_running on polls (deadline_at) where status = 'running';
create index polls_running_tenant on polls (tenant, created_at desc, id desc) where status = 'running';
create index polls_running_lane on polls (tenant, lane) where status = 'running';
create index polls_account on polls (account_id, created_at desc, id desc) where account_id is not null;
create index polls_tasks on polls (account_id, (coalesce(finished_at, created_at)) desc, id desc)
  where entry_point in ('a2a', 'a2a-named');

create index polls_failed on polls (account_id, created_at desc, id desc) where status = 'failed';
create index polls_close on polls (account_id, created_at desc, id desc) where is_close;
create index polls_key on polls (key_id, created_at desc, id desc) where key_id is not null;
create index polls_expiry on polls (expires_at) where expires_at is not null and status <> 'running';

-- A row for each pair of a poll's metadata, in the order in which polls are listed; label: see label_of.
create table poll_labels (
  account_id uuid not null,
  label      bytea not null,
  created_at timestamptz not null,
  poll_id    text collate "C" not null,
  primary key (account_id, label, created_at, poll_id)
);

-- emptied_at: it was deleted; detail holds nothing, and it cannot be read. expires_at: that of its poll. receipt_leaf: see 0008-receipts.
-- detail is json, not jsonb: a response comes back with its members in the order in which it was sent. votes_u and
-- failed_calls_u: what was charged where that is more than detail says, by vote and for calls that the question made fail.
create table results (
  poll_id            text collate "C" primary key,
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
  votes_u            bigint[],
  failed_calls_u     bigint not null default 0,
  receipt_leaf       bytea,
  expires_at         timestamptz,
  emptied_at         timestamptz,
  created_at         timestamptz not null default now()
);
create index results_account on results (account_id, created_at desc, poll_id) where account_id is not null;
create index results_created on results (created_at);
create index results_created_paid on results (created_at) where not (panel_name in ('free', 'free_search'));
create index results_created_free on results (created_at) where panel_name in ('free', 'free_search');

-- Written once, by the statement that ends the poll. A vote that failed is billed only what its calls cost.
-- calls: exchanges with the provider, retries and repair included. cost_u: what they cost us, as far as it is known;
-- max_cost_u: the same, with the most that a call can cost where nothing is; fault_u: the part that the question caused.
create table votes (
  poll_id         text collate "C" not null,
  seat            smallint not null,
  model_id        text not null,
  option          smallint,
  error           text,
  latency_ms      integer not null,
  billed_u        bigint not null check (billed_u >= 0),
  provider_cost_u bigint,
  cost_u          bigint not null default 0,
  max_cost_u      bigint not null default 0,
  fault_u         bigint not null default 0,
  calls           smallint not null,
  searched        boolean not null,
  labels          text[] not null,
  primary key (poll_id, seat),
  constraint votes_only_votes_billed check (option is not null or billed_u <= max_cost_u)
);

-- What the questions of a caller made fail in one UTC day: an account, or the keyed hash of a network. free_u is the part
-- of fault_u that was ours to pay, charged_u the part that the account paid.
create table caller_days (
  caller         text collate "C" not null,
  day            date not null,
  account_id     uuid,
  refusals       integer not null default 0,
  other_failures integer not null default 0,
  fault_u        bigint not null default 0,
  free_u         bigint not null default 0,
  charged_u      bigint not null default 0,
  primary key (caller, day)
) with (fillfactor = 70);
create index caller_days_day on caller_days (day);

-- What providers charge the fleet in the hour and UTC day, spread over rows so that polls do not wait for each other. Only
-- the sums mean anything. The held part is set aside for running polls and contained in the other.
create table provider_spend (
  shard       smallint primary key,
  hour        timestamptz not null default '-infinity',
  hour_u      bigint not null default 0,
  hour_held_u bigint not null default 0,
  day         date not null default '-infinity',
  day_u       bigint not null default 0,
  day_held_u  bigint not null default 0
) with (fillfactor = 20);
insert into provider_spend (shard) select generate_series(0, 15);

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
create index idempotency_poll on idempotency (poll_id) where poll_id is not null;

${functionText('top_up_pool')}
${functionText('share_of')}
${functionText('spend_wait')}
${functionText('take_spend')}
${functionText('settle_spend')}
${functionText('charge_failures')}
${functionText('note_failures')}
${functionText('votes_of')}
${functionText('label_of')}
${functionText('draw_audit')}
${functionText('insert_poll')}
${functionText('accept_poll')}
${functionText('claim_poll')}
${functionText('finish_poll')}
${functionText('cancel_poll')}
`,
};
