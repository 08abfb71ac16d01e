import { functionText } from './function-text.ts';
import type { Migration } from './migration.ts';

// What accounts asked and were charged, counted as polls end, and the limits of their keys.
export const usage: Migration = {
  name: '0014-usage',
  sql: () => `
-- A row for each kind of poll that an account ran on a UTC day, the day of its end and of its capture. key_id: zero for
-- polls without a key. surface: the entry point. ms_counts, cost_counts: histograms of completed polls,
-- see counted_once. The fillfactor leaves space for updates on the same page; no index has a column that they change.
create table usage_days (
  account_id       uuid not null,
  day              date not null,
  key_id           uuid not null,
  preset           text collate "C" not null,
  surface          text collate "C" not null,
  polls            integer not null,
  completed        integer not null,
  failed           integer not null,
  canceled         integer not null,
  split_or_partial integer not null,
  cost_u           bigint not null,
  saved_u          bigint not null,
  ms_counts        numeric not null,
  cost_counts      numeric not null,
  primary key (account_id, day, key_id, preset, surface)
) with (fillfactor = 50);
create index usage_days_day on usage_days (day);

-- The same for each pair of metadata, and how many values of each name the day has.
create table usage_labels (
  account_id       uuid not null,
  day              date not null,
  name             text collate "C" not null,
  value            text collate "C" not null,
  polls            integer not null,
  completed        integer not null,
  failed           integer not null,
  canceled         integer not null,
  split_or_partial integer not null,
  cost_u           bigint not null,
  saved_u          bigint not null,
  ms_counts        numeric not null,
  cost_counts      numeric not null,
  primary key (account_id, name, day, value)
) with (fillfactor = 70);
create table usage_names (
  account_id  uuid not null,
  day         date not null,
  name        text collate "C" not null,
  value_count integer not null,
  primary key (account_id, day, name)
) with (fillfactor = 70);
create index usage_names_day on usage_names (day);

-- Keys that have or had a limit. period: the first day that spent_u is about; held_u: set aside for running polls.
-- limit_u is null after it was taken away. reached_in: the period in which a poll was first refused for it.
create table key_limits (
  key_id     uuid primary key references api_keys on delete cascade,
  account_id uuid not null,
  limit_u    bigint check (limit_u >= 0),
  reset      text not null check (reset in ('never', 'daily', 'monthly')),
  period     date not null,
  spent_u    bigint not null default 0 check (spent_u >= 0),
  held_u     bigint not null default 0 check (held_u >= 0),
  reached_in date
) with (fillfactor = 50);

-- read_only: it may not ask, and changes nothing. low_balance_u: its owner wants to know when less than that is left.
alter table api_keys add column read_only boolean not null default false;
alter table balances add column low_balance_u bigint check (low_balance_u > 0);

${functionText('usage_bucket')}
${functionText('counted_once')}
${functionText('count_usage')}
${functionText('key_period')}
${functionText('key_resets_at')}
${functionText('note_key_limit')}
${functionText('note_low_balance')}
${functionText('take_key_limit')}
${functionText('settle_key_limit')}
${functionText('set_key_limit')}
${functionText('check_key_limits')}
${functionText('check_usage')}
${functionText('prune_usage')}
`,
};
