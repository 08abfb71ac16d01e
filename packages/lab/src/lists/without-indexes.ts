import type { Stores } from '../fixture/stores.ts';

interface Definition {
  make: string;
  drop: string;
}

/**
 * Drops indexes, keys and foreign keys of the tables, does the work, and creates them again: building an index of
 * millions of random ids is many times faster than inserting into it. Foreign keys are not checked again.
 */
export async function withoutIndexes(
  { query }: Pick<Stores, 'query'>,
  tables: readonly string[],
  work: () => Promise<void>,
): Promise<void> {
  const constraints = await query<Definition>(
    `select format('alter table %s add constraint %I %s', conrelid::regclass, conname,
                   pg_get_constraintdef(oid) || case contype when 'f' then ' not valid' else '' end) as make,
            format('alter table %s drop constraint %I', conrelid::regclass, conname) as drop
       from pg_constraint
      where contype in ('p', 'u', 'f')
        and (conrelid::regclass::text = any($1) or (contype = 'f' and confrelid::regclass::text = any($1)))
      order by contype = 'f'`,
    [tables],
  );
  const indexes = await query<Definition>(
    `select replace(pg_get_indexdef(indexrelid), ' ON ONLY ', ' ON ') as make, format('drop index %s', indexrelid::regclass) as drop
       from pg_index i
      where indrelid::regclass::text = any($1) and not exists (select from pg_constraint where conindid = i.indexrelid)`,
    [tables],
  );
  for (const { drop } of [...constraints.toReversed(), ...indexes]) await query(drop);
  await work();
  for (const { make } of [...constraints, ...indexes]) await query(`set maintenance_work_mem = '1GB'; ${make}`);
}
