import type pg from 'pg';

// Everything in a database that a release relies on, a line each: columns, constraints, indexes, triggers, functions
// and grants.

const LINES = `
  with tables as (
    select oid, relname, relacl from pg_class
     where relnamespace = 'public'::regnamespace and relkind in ('r', 'p', 'v') and relname not like 'lab\\_%'
  )
  select format('column %s.%s %s %s%s', relname, attname, format_type(atttypid, atttypmod),
                case when attnotnull then 'not null ' end, pg_get_expr(adbin, adrelid)) as line
    from tables join pg_attribute on attrelid = tables.oid and attnum > 0 and not attisdropped
    left join pg_attrdef on adrelid = attrelid and adnum = attnum
  union all
  select format('constraint %s on %s: %s', conname, relname, pg_get_constraintdef(c.oid))
    from tables join pg_constraint c on conrelid = tables.oid where contype <> 'n'
  union all
  select pg_get_indexdef(indexrelid) from tables join pg_index on indrelid = tables.oid
  union all
  select pg_get_triggerdef(t.oid) from tables join pg_trigger t on tgrelid = tables.oid
   where not tgisinternal and tgname not like 'lab\\_%'
  union all
  select format('function %s %s %s', oid::regprocedure, md5(pg_get_functiondef(oid)), array(select a::text from unnest(proacl) a order by 1))
    from pg_proc where pronamespace = 'public'::regnamespace and proname not like 'lab\\_%'
  union all
  select format('grants on %s: %s', relname, array(select a::text from unnest(relacl) a order by 1)) from tables
  union all
  select format('grants on %s.%s: %s', relname, attname, array(select a::text from unnest(attacl) a order by 1))
    from tables join pg_attribute on attrelid = tables.oid where attacl is not null
`;

export async function schemaOf(client: Pick<pg.Client, 'query'>): Promise<Set<string>> {
  const { rows } = await client.query<{ line: string }>(LINES);
  return new Set(rows.map(({ line }) => line));
}
