import { functionText } from './function-text.ts';
import type { Migration } from './migration.ts';

// One short constraint of polls in the place of three, as 0023-transfer-rules has it for transfers; and answers of up to half
// a page stay in their row, uncompressed: neither compressing them nor a second table is worth what it costs each poll.
export const pollRows: Migration = {
  name: '0024-poll-rows',
  prepare: () => [
    {
      sql: `${functionText('is_poll')}
do $$ begin
  if not exists (select from pg_constraint where conrelid = 'polls'::regclass and conname = 'polls_rules') then
    alter table polls add constraint polls_rules check (is_poll(status, lane, finished_at)) not valid;
  end if;
end $$;`,
    },
    { sql: 'alter table polls validate constraint polls_rules', isOnline: true },
  ],
  // A table by month has no such setting itself: each new month has those of the newest.
  sql: () => `
alter table polls drop constraint polls_check, drop constraint polls_status_check, drop constraint polls_lane_check;
do $$
declare
  v_month text;
begin
  for v_month in select inhrelid::regclass from pg_inherits where inhparent = 'results'::regclass loop
    execute format('alter table %s set (toast_tuple_target = 4080)', v_month);
  end loop;
end $$;
`,
};
