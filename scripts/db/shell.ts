import { createInterface } from 'node:readline/promises';
import { Failure } from '@eloquentpoll/launch/failure';
import pg from 'pg';
import { asTable } from './as-table.ts';

// A small SQL shell: statements end with a semicolon, \d lists tables or describes one, \q ends.

export interface ShellOptions {
  url: string;
  /** Statements to run instead of reading the input. */
  statements: readonly string[];
  input: NodeJS.ReadableStream & { isTTY?: boolean };
  output: NodeJS.WritableStream;
}

const CONNECT_MS = 3_000;
const HELP = 'Statements end with ;   \\d lists tables, \\d NAME describes one, \\q ends.';

const TABLES = `select c.relname as "table", case c.relkind when 'v' then 'view' else 'table' end as kind,
    c.reltuples::bigint as "rows, about", pg_size_pretty(pg_total_relation_size(c.oid)) as size
  from pg_class c where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p', 'v', 'm') order by 1`;
const COLUMNS = `select a.attname as "column", format_type(a.atttypid, a.atttypmod) as type,
    case when a.attnotnull then 'not null' else '' end as "null", coalesce(pg_get_expr(d.adbin, d.adrelid), '') as "default"
  from pg_attribute a left join pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
  where a.attrelid = to_regclass($1) and a.attnum > 0 and not a.attisdropped order by a.attnum`;
const INDEXES = `select indexname as "index", indexdef as definition from pg_indexes
  where tablename = $1 and schemaname = 'public' order by 1`;

/** Returns the exit code: 1 if a statement from the command line failed. */
export async function runShell({ url, statements, input, output }: ShellOptions): Promise<number> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: CONNECT_MS });
  client.on('error', () => {});
  await client.connect().catch((error: Error) => {
    throw new Failure(
      `The database at ${new URL(url).host} does not answer (${error.message}): is \`npm run dev\` running?`,
    );
  });
  try {
    return statements.length > 0 ? await runAll(client, statements, output) : await readAndRun(client, input, output);
  } finally {
    await client.end();
  }
}

async function runAll(client: pg.Client, statements: readonly string[], output: NodeJS.WritableStream) {
  for (const statement of statements) if (!(await run(client, statement, output))) return 1;
  return 0;
}

async function readAndRun(client: pg.Client, input: ShellOptions['input'], output: NodeJS.WritableStream) {
  const lines = createInterface({ input, output, terminal: input.isTTY === true, prompt: 'eloquentpoll=> ' });
  if (input.isTTY) output.write(`${HELP}\n`);
  const prompt = () => input.isTTY && lines.prompt();
  let statement = '';
  prompt();
  for await (const line of lines) {
    statement = statement ? `${statement}\n${line}` : line.trim();
    if (statement === '\\q') break;
    if (/^\\|;\s*$/.test(statement)) {
      await run(client, statement, output);
      statement = '';
    }
    lines.setPrompt(statement ? 'eloquentpoll-> ' : 'eloquentpoll=> ');
    prompt();
  }
  lines.close();
  return 0;
}

async function run(client: pg.Client, statement: string, output: NodeJS.WritableStream): Promise<boolean> {
  try {
    output.write(`${await answerTo(client, statement)}\n`);
    return true;
  } catch (error) {
    output.write(`${error instanceof Error ? `ERROR: ${error.message}` : String(error)}\n`);
    return false;
  }
}

async function answerTo(client: pg.Client, statement: string): Promise<string> {
  const [command, name] = statement.trim().split(/\s+/);
  if (command === '\\d' && name) {
    const columns = await client.query(COLUMNS, [name]);
    if (columns.rows.length === 0) return `There is no table ${name}.`;
    return `${asTable(columns)}\n\n${asTable(await client.query(INDEXES, [name]))}`;
  }
  if (command === '\\d') return asTable(await client.query(TABLES));
  if (command?.startsWith('\\')) return HELP;
  const results = [await client.query(statement)].flat();
  return results.map((result) => (result.fields.length > 0 ? asTable(result) : done(result))).join('\n');
}

const done = ({ command, rowCount }: pg.QueryResult): string =>
  [command, rowCount].filter((part) => part != null).join(' ');
