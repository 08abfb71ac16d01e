import { firstMonth, indexOfResult, successorOf, swap, withoutReference } from './by-month.ts';
import { functionText } from './function-text.ts';
import type { Migration } from './migration.ts';

// Tables that grow with polls are kept by month: partitioned by range of the id, which begins with the month. What is there
// already becomes the first partition, which ends with the present month; nothing is copied, and polls go on meanwhile.

const TABLES = [
  { table: 'polls', key: 'id', end: 'next_poll' },
  { table: 'votes', key: 'poll_id', end: 'next_poll' },
  { table: 'results', key: 'poll_id', end: 'next_poll' },
  { table: 'poll_labels', key: 'poll_id', end: 'next_poll' },
  { table: 'webhook_events', key: 'id', end: "time_ids('msg_', ends_at)" },
  { table: 'webhook_deliveries', key: 'id', end: "time_ids('wd_', ends_at)" },
] as const;

/** A reference to a table by month would be checked in all of it when a month is dropped; one from it locks the other table. */
const REFERENCES = [
  ['polls', 'polls_account_id_fkey'],
  ['votes', 'votes_poll_id_fkey'],
  ['results', 'results_poll_id_fkey'],
  ['feedback', 'feedback_poll_id_fkey'],
  ['dead_letters', 'dead_letters_retried_as_fkey'],
] as const;

export const months: Migration = {
  name: '0017-months',
  prepare: () => [
    { sql: `${functionText('month_ids')}${functionText('time_ids')}${MONTHS}` },
    ...indexOfResult('polls', 'id'),
    ...indexOfResult('results', 'poll_id'),
    ...TABLES.map(successorOf),
    ...REFERENCES.map(withoutReference),
    ...TABLES.flatMap(firstMonth),
  ],
  sql: () => `
lock table polls, votes, results, poll_labels, webhook_events, webhook_deliveries, webhook_endpoints, webhook_receivers
  in access exclusive mode;
alter table webhook_deliveries
  drop constraint webhook_deliveries_event_id_fkey,
  drop constraint webhook_deliveries_endpoint_id_fkey,
  drop constraint webhook_deliveries_receiver_id_fkey;
${TABLES.map(swap).join('\n')}
${functionText('delete_deliveries')}
create trigger webhook_events_deliveries after delete on webhook_events
  for each row execute function delete_deliveries('event');
create trigger webhook_receivers_deliveries after delete on webhook_receivers
  for each row execute function delete_deliveries('receiver');

-- They take rows of the table of this name, which is another one now.
do $$ begin drop function note_poll_ended, end_batch_poll, count_usage; end $$;
${FUNCTIONS.map(functionText).join('\n')}
`,
};

/** In a transaction of its own, because it takes longer than callers are to wait. */
export const monthsAhead: Migration = { name: '0017-months-ahead', sql: () => 'select keep_months(2)' };

/**
 * name: of its partitions, as in polls_2026_12; `first` for all that is older than the partitions. first_poll, next_poll:
 * what ids of its polls lie between. It ends two days from now at the earliest: by then the step is done or begun anew.
 */
const MONTHS = `
create table if not exists months (
  name                text collate "C" primary key,
  starts_at           timestamptz not null unique,
  ends_at             timestamptz not null unique,
  first_poll          text collate "C" not null unique,
  next_poll           text collate "C" not null unique,
  polls_dropped_at    timestamptz,
  webhooks_dropped_at timestamptz
);
do $$
declare
  v_ends constant timestamptz :=
    (date_trunc('month', now() at time zone 'utc' + interval '2 days') + interval '1 month') at time zone 'utc';
begin
  if not exists (select from months where name = 'first' and ends_at > now() + interval '1 day') then
    delete from months;
    insert into months (name, starts_at, ends_at, first_poll, next_poll) values ('first', '-infinity', v_ends, '', month_ids(v_ends));
${TABLES.map(({ table }) => `    alter table ${table} drop constraint if exists ${table}_first_month;`).join('\n')}
  end if;
end $$;
`;

const FUNCTIONS = [
  'monthly_tables',
  'make_partition',
  'make_month',
  'keep_months',
  'polls_are_over',
  'webhooks_are_over',
  'detach_month',
  'drop_month',
  'note_poll_ended',
  'end_batch_poll',
  'count_usage',
  'accept_poll',
  'finish_poll',
  'cancel_poll',
  'empty_polls',
  'prune_webhooks',
  'resend_webhook_delivery',
  'check_transfers',
];
