import { functionText } from './function-text.ts';
import type { Migration } from './migration.ts';

// Usage by metadata is read for a year at a time: sums of months instead of all their days.
export const usageMonths: Migration = {
  name: '0018-usage-months',
  sql: () => `
-- The sums of the days of a month whose row of usage_names says summed, for each pair of metadata. month: its first day.
create table usage_label_months (
  account_id       uuid not null,
  month            date not null,
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
  primary key (account_id, name, month, value)
) with (fillfactor = 70);

alter table usage_names add column summed boolean not null default false;
create index usage_names_to_sum on usage_names (day) where not summed;

${functionText('sum_usage_months')}
${functionText('first_usage_month')}
${functionText('prune_usage')}
${functionText('prune_expired')}
${functionText('empty_polls')}
${functionText('check_usage_months')}
`,
};
