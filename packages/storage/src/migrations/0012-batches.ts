import { functionText } from './function-text.ts';
import type { Migration } from './migration.ts';

// Many polls handed over at once. A batch reserves a part of its account's balance; each of its polls takes its hold out of
// the reservation and gives back what it does not use.
export const batches: Migration = {
  name: '0012-batches',
  sql: () => `
-- loading: its rows are being uploaded, until loading_until at the latest; nothing is reserved. deleted: shown to no caller
-- any more, waiting for its rows to be pruned. canceling: cancellation was asked for, and polls of it may run.
-- key_id: the API key that sent it. reserved_u: set aside for its rows, beside the holds of its running polls. max_cost_u:
-- the most that it may cost, null where its rows are the only limit. The counters are of rows; those without an outcome
-- that are not running wait, or were not_run when it ended. skipped: rows that were left out of it, with the first of them. keep_until: when it is deleted, null for never. runner_owner has it until
-- runner_until, under runner_epoch. moved_at: when one of its polls was last accepted or ended, or its runner last held it back.
create table batches (
  id              text collate "C" primary key,
  account_id      uuid not null references accounts,
  key_id          uuid,
  status          text not null default 'loading' check (status in
    ('loading', 'running', 'canceling', 'completed', 'canceled', 'expired', 'deleted')),
  idempotency_key text collate "C",
  fingerprint     text collate "C",
  metadata        jsonb,
  webhook_url     text,
  max_cost_u      bigint,
  reserved_u      bigint not null default 0 check (reserved_u >= 0),
  cost_u          bigint not null default 0,
  has_gold        boolean not null default false,
  skipped         jsonb,
  total           integer not null default 0,
  running         integer not null default 0 check (running >= 0),
  succeeded       integer not null default 0,
  partial         integer not null default 0,
  failed          integer not null default 0,
  canceled        integer not null default 0,
  not_run         integer not null default 0,
  not_run_reason  text check (not_run_reason in ('canceled', 'expired', 'uncovered')),
  runner_owner    text,
  runner_epoch    integer not null default 0,
  runner_until    timestamptz not null default now(),
  moved_at        timestamptz not null default now(),
  created_at      timestamptz not null default now(),
  loading_until   timestamptz default now() + interval '2 minutes',
  expires_at      timestamptz,
  keep_until      timestamptz,
  cancel_requested_at timestamptz,
  ended_at        timestamptz,
  constraint batches_reserved check (reserved_u = 0 or status in ('running', 'canceling'))
) with (fillfactor = 20);
create unique index batches_key on batches (account_id, idempotency_key) where idempotency_key is not null;
create index batches_account on batches (account_id, created_at desc, id desc);
create index batches_open on batches (account_id) where status in ('loading', 'running', 'canceling');
create index batches_unattended on batches (runner_until) where status in ('running', 'canceling');
create index batches_deleted on batches (id) where status = 'deleted';
create index batches_kept on batches (keep_until) where status in ('completed', 'canceled', 'expired');
create index batches_loading on batches (loading_until) where status = 'loading';

-- line: where the row is in the upload. request: the order that was checked, until a poll has it. outcome: null while the
-- row waits or runs, and for ever of a row that never ran: not_run_reason of its batch says why. error: why it failed
-- without a poll. No foreign key to batches, which would lock the batch once for each row.
create table batch_rows (
  batch_id  text collate "C" not null,
  line      integer not null,
  custom_id text collate "C" not null,
  request   jsonb,
  gold      text,
  poll_id   text collate "C",
  outcome   text check (outcome in ('success', 'partial', 'failed', 'canceled')),
  error     text,
  primary key (batch_id, line),
  constraint batch_rows_custom_id unique (batch_id, custom_id)
) with (fillfactor = 60);
create index batch_rows_open on batch_rows (batch_id, line) where outcome is null;

${functionText('open_batch')}
${functionText('add_batch_rows')}
${functionText('start_batch')}
${functionText('accept_batch_polls')}
${functionText('end_batch_poll')}
${functionText('fail_batch_rows')}
${functionText('end_batch')}
${functionText('cancel_batch')}
${functionText('delete_batch')}
${functionText('check_batches')}
${functionText('prune_batches')}
`,
};
