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

-- One row per service and minute in which at least one of its processes was alive.
create table heartbeats (
  service text collate "C" not null,
  minute  timestamptz not null,
  primary key (service, minute)
);
`,
};
