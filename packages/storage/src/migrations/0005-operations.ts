import { functionText } from './function-text.ts';
import type { Migration } from './migration.ts';

// What operators look at.
export const operations: Migration = {
  name: '0005-operations',
  sql: () => `
-- Polls that were given up. An operator closes a dead letter (seen_at) or has the poll asked again, as a new poll,
-- because a poll that has ended stays ended.
create table dead_letters (
  id         bigint generated always as identity primary key,
  poll_id    text collate "C" not null,
  reason     text not null,
  claims     integer not null,
  created_at timestamptz not null default now(),
  seen_at    timestamptz,
  retried_as text collate "C" references polls
);
create index dead_letters_unseen on dead_letters (created_at) where seen_at is null;

-- What operators have stopped, one row. accept_poll reads it, so that it holds for the fleet at once.
create table controls (
  only_row           boolean primary key default true check (only_row),
  polls_stopped      boolean not null default false,
  free_polls_stopped boolean not null default false
);
insert into controls default values;

-- What operators did and why. Two rows per action, when it began and what became of it, so that one that a crash ended is
-- seen too.
create table operator_log (
  id        bigint generated always as identity primary key,
  action_id uuid not null,
  at        timestamptz not null default clock_timestamp(),
  operator  text not null check (char_length(operator) between 1 and 100),
  verb      text not null,
  subject   text not null,
  reason    text not null check (char_length(reason) between 3 and 500),
  outcome   text not null,
  facts     jsonb not null default '{}'
);
create index operator_log_action on operator_log (action_id);
create trigger operator_log_append_only before update or delete on operator_log
  for each row execute function refuse_rewrite();
create trigger operator_log_no_truncate before truncate on operator_log
  for each statement execute function refuse_rewrite();
revoke update, delete, truncate on operator_log from public;

-- One row per service and minute in which at least one of its processes was alive.
create table heartbeats (
  service text collate "C" not null,
  minute  timestamptz not null,
  primary key (service, minute)
);

${functionText('prune_expired')}
`,
};
