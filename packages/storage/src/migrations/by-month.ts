import type { Preparation } from './migration.ts';

// How a table in use becomes one that is partitioned by month: its successor is made beside it, and what the first partition
// holds is proved, while readers and writers go on; then the names are exchanged in one moment.

export interface MonthlyTable {
  readonly table: string;
  /** Of its ids the column that begins with the time. */
  readonly key: string;
  /** Where the first partition ends, of the row of `months`. */
  readonly end: string;
}

/** The unique index of result ids, with the column that every key of a partitioned table has. */
export const indexOfResult = (table: string, key: string): Preparation[] => [
  {
    // What an attempt left that was broken off.
    sql: `do $$ begin
      if exists (select from pg_index where indexrelid = to_regclass('${table}_result') and not indisvalid) then
        drop index ${table}_result;
      end if;
    end $$`,
  },
  {
    sql: `create unique index concurrently if not exists ${table}_result on ${table} (result_id, ${key})`,
    isOnline: true,
  },
];

/** The successor, with the defaults, checks and indexes that the table has, under other names until `swap`. */
export const successorOf = ({ table, key }: MonthlyTable): Preparation => ({
  sql: `do $$
declare
  v_index record;
begin
  if to_regclass('${table}_by_month') is not null then return; end if;
  create table ${table}_by_month (like ${table} including defaults including constraints including storage) partition by range (${key});
  for v_index in
    select c.relname as name, i.indisunique, i.indisprimary, substring(pg_get_indexdef(i.indexrelid) from ' USING .*') as rest
      from pg_index i join pg_class c on c.oid = i.indexrelid
      join pg_attribute a on a.attrelid = i.indrelid and a.attname = '${key}'
     where i.indrelid = '${table}'::regclass and i.indisvalid and (not i.indisunique or a.attnum = any (i.indkey))
  loop
    if v_index.indisprimary then
      execute format('alter table ${table}_by_month add constraint %I primary key %s', 'by_month_' || v_index.name,
                     substring(v_index.rest from '\\(.*\\)'));
    else
      execute format('create %s index %I on ${table}_by_month %s', case when v_index.indisunique then 'unique' else '' end,
                     'by_month_' || v_index.name, v_index.rest);
    end if;
  end loop;
end $$`,
});

export const withoutReference = ([table, name]: readonly [string, string]): Preparation => ({
  sql: `alter table ${table} drop constraint if exists ${name}`,
});

/** That all of its rows are of the first partition: said at once of new ones, and proved of the others without a lock. */
export const firstMonth = ({ table, key, end }: MonthlyTable): Preparation[] => [
  {
    sql: `do $$ begin
      if not exists (select from pg_constraint where conrelid = '${table}'::regclass and conname = '${table}_first_month') then
        execute format('alter table ${table} add constraint ${table}_first_month check (${key} < %L) not valid',
                       (select ${end} from months where name = 'first'));
      end if;
    end $$`,
  },
  { sql: `alter table ${table} validate constraint ${table}_first_month`, isOnline: true },
];

/** Exchanges the names, grants, and attaches the table as the first partition. Its indexes are there: nothing is built or read. */
export const swap = ({ table, key, end }: MonthlyTable): string => `
do $$
declare
  v_grant record;
  v_index record;
begin
  alter table ${table} rename to ${table}_first;
  alter table ${table}_by_month rename to ${table};
  for v_grant in
    select a.privilege_type as privilege, a.grantee::regrole as role, '' as columns
      from pg_class c, aclexplode(c.relacl) a where c.oid = '${table}_first'::regclass and a.grantee not in (0, c.relowner)
    union all
    select a.privilege_type, a.grantee::regrole, format('(%I)', t.attname)
      from pg_attribute t, aclexplode(t.attacl) a where t.attrelid = '${table}_first'::regclass and a.grantee <> 0
  loop
    execute format('grant %s %s on ${table} to %s', v_grant.privilege, v_grant.columns, v_grant.role);
    execute format('revoke %s %s on ${table}_first from %s', v_grant.privilege, v_grant.columns, v_grant.role);
  end loop;
  -- Keys without the month: of what is new, the index with both columns takes their place.
  for v_index in
    select c.conname as name from pg_constraint c
     where c.conrelid = '${table}_first'::regclass and c.contype = 'u'
       and not (select attnum from pg_attribute where attrelid = c.conrelid and attname = '${key}') = any (c.conkey)
  loop
    execute format('alter table ${table}_first drop constraint %I', v_index.name);
  end loop;
  execute format('alter table ${table} attach partition ${table}_first for values from (minvalue) to (%L)',
                 (select ${end} from months where name = 'first'));
  alter table ${table}_first drop constraint ${table}_first_month;
  for v_index in
    select o.relname as name, n.relname as successor from pg_inherits h
      join pg_class o on o.oid = h.inhrelid join pg_class n on n.oid = h.inhparent
      join pg_index i on i.indexrelid = o.oid where i.indrelid = '${table}_first'::regclass
  loop
    execute format('alter index %I rename to %I', v_index.name, v_index.name || '_first');
    execute format('alter index %I rename to %I', v_index.successor, v_index.name);
  end loop;
end $$;`;
