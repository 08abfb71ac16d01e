import type { Migration, Preparation } from './migration.ts';

// Closing an account, and what an operator sees of one, look for its deposits. Its history passes over results whose time
// is over, and over those of the pages before, in the index alone.

const HISTORY = 'on %I (account_id, created_at desc, poll_id) include (expires_at) where account_id is not null';

/** Built for each partition beside writers; the index of the table has them when all are attached. */
const PARTITIONS = `
  select c.relname as name from pg_inherits i join pg_class c on c.oid = i.inhrelid
   where i.inhparent = 'results'::regclass
     and not exists (select from pg_index x join pg_inherits a on a.inhrelid = x.indexrelid
                      where x.indrelid = c.oid and a.inhparent = 'results_history'::regclass)`;

const online = (index: string, on: string): Preparation[] => [
  {
    // What an attempt left that was broken off.
    sql: `do $$ begin
      if exists (select from pg_index where indexrelid = to_regclass('${index}') and not indisvalid) then
        drop index ${index};
      end if;
    end $$`,
  },
  { sql: `create index concurrently if not exists ${index} ${on}`, isOnline: true },
];

export const indexesOfAccounts: Migration = {
  name: '0033-indexes-of-accounts',
  prepare: () => [
    ...online('deposits_account', 'on deposits (account_id) where account_id is not null'),
    { sql: `create index if not exists results_history ${HISTORY.replace('%I', 'only results')}` },
    ...online('%I_history', HISTORY).map((step) => ({ ...step, forEach: PARTITIONS })),
  ],
  sql: () => `
do $$
declare
  v_name text;
begin
  for v_name in ${PARTITIONS} loop
    execute format('alter index results_history attach partition %I', v_name || '_history');
  end loop;
end $$;
drop index results_account;
`,
};
