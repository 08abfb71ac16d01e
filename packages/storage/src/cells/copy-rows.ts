import { sql } from 'kysely';
import type { Queries, Storage } from '../open-storage.ts';
import { fenceTarget } from './moves.ts';

// Copies rows of one account from one database to another, page by page. If a page differs, the target's rows are
// replaced, so copying may be repeated after an interruption or a change, and costs little if nothing changed. Column
// names come from the catalogue; rows travel as JSON text, so that no number passes through JavaScript.

export interface CopiedTable {
  name: string;
  /** SQL condition for the account's rows; null if they are found by `byPoll`. */
  where: string | null;
  /** The column with the poll's id. */
  byPoll?: string;
  /** Values written instead of the source's, by column; `t` is the row. */
  instead?: Readonly<Record<string, string>>;
}

type Condition = ReturnType<typeof sql>;

interface Shape {
  columns: string[];
  key: string[];
}

/** The columns and primary key, which both databases must have in common. */
export async function readShape({ db }: Queries, table: string): Promise<Shape> {
  const { rows } = await sql<{ columns: string[]; key: string[] }>`
    select array(select attname::text from pg_attribute
                  where attrelid = ${table}::regclass and attnum > 0 and not attisdropped and attgenerated = ''
                  order by attname) as columns,
           array(select attname::text from pg_index i cross join unnest(i.indkey::smallint[]) with ordinality k (attnum, place)
                   join pg_attribute a on a.attrelid = i.indrelid and a.attnum = k.attnum
                  where i.indrelid = ${table}::regclass and i.indisprimary order by place) as key`.execute(db);
  return rows[0]!;
}

export interface CopyEnds {
  from: Storage;
  to: Storage;
  accountId: string;
}

const ROWS_PER_PAGE = 500;

/** Copies the rows that belong to these polls; returns whether anything was written. */
export async function copyRowsOfPolls(
  ends: CopyEnds,
  table: CopiedTable,
  pollIds: readonly string[],
): Promise<boolean> {
  const shape = await readShape(ends.from, table.name);
  const own = sql`${sql.ref(table.byPoll!)} = any(${[...pollIds]}::text[])`;
  return copyPage(ends, table, shape, own);
}

/** Copies all rows of a table that belong to the account, and deletes rows that the source does not have. */
export async function copyRowsOfAccount(ends: CopyEnds, table: CopiedTable): Promise<void> {
  const { from } = ends;
  const shape = await readShape(from, table.name);
  const own = sql.raw(table.where!);
  const key = sql.raw(shape.key.map((column) => `t.${column}`).join(', '));
  let after: string | null = null;
  for (;;) {
    const past: Condition =
      after === null
        ? sql`true`
        : sql`(${key}) > (select ${key} from json_populate_record(null::${sql.table(table.name)}, ${after}::json) t)`;
    const { rows }: { rows: { last: string | null; count: number }[] } = await sql<{
      last: string | null;
      count: number;
    }>`
      select (array_agg(row_to_json(p)::text order by place desc))[1] as last, count(*)::integer as count
        from (select ${key}, row_number() over (order by ${key}) as place from ${sql.table(table.name)} t
               where ${own} and ${past} order by ${key} limit ${ROWS_PER_PAGE}) p`.execute(from.db);
    const { last, count } = rows[0]!;
    const isLast = count < ROWS_PER_PAGE;
    const until: Condition = isLast
      ? sql`true`
      : sql`(${key}) <= (select ${key} from json_populate_record(null::${sql.table(table.name)}, ${last}::json) t)`;
    const range = sql`${own} and ${past} and ${until}`;
    await copyPage(ends, table, shape, range);
    if (isLast) return;
    after = last;
  }
}

async function copyPage(
  { from, to, accountId }: CopyEnds,
  table: CopiedTable,
  { columns, key }: Shape,
  rows: Condition,
): Promise<boolean> {
  const values = sql.raw(
    columns.map((column) => `${table.instead?.[column] ?? `t.${column}`} as ${column}`).join(', '),
  );
  const keys = sql.raw(key.map((column) => `t.${column}`).join(', '));
  const plain = sql.raw(columns.map((column) => `t.${column}`).join(', '));
  const name = sql.table(table.name);
  const read = async ({ db }: Queries, what: Condition, where: Condition) =>
    (
      await sql<{ rows: string; digest: string }>`
        select coalesce(json_agg(row_to_json(p) order by p.place)::text, '[]') as rows,
               md5(coalesce(string_agg((to_jsonb(p) - 'place')::text, ',' order by p.place), '')) as digest
          from (select ${what}, row_number() over (order by ${keys}) as place from ${name} t where ${where}) p`.execute(
        db,
      )
    ).rows[0]!;
  const ours = await read(from, values, rows);
  const theirs = await read(to, plain, rows);
  if (ours.digest === theirs.digest) return false;
  const list = sql.raw(columns.join(', '));
  const others = columns.filter((column) => !key.includes(column));
  const update = sql.raw(others.map((column) => `${column} = excluded.${column}`).join(', '));
  await to.db.transaction().execute(async (db) => {
    await fenceTarget({ db }, accountId);
    await sql`select set_config('eloquentpoll.moving', 'on', true)`.execute(db);
    await sql`
      delete from ${name} t where ${rows}
         and (${keys}) not in (select ${keys} from json_populate_recordset(null::${name}, ${ours.rows}::json) t)`.execute(
      db,
    );
    await sql`
      insert into ${name} (${list}) select ${plain} from json_populate_recordset(null::${name}, ${ours.rows}::json) t
      on conflict (${sql.raw(key.join(', '))}) do ${others.length > 0 ? sql`update set ${update}` : sql`nothing`}`.execute(
      db,
    );
  });
  return true;
}
