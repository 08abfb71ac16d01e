import { databaseOn } from '@eloquentpoll/services/databases';
import pg from 'pg';

// Databases in which one function is mutated. Tests clone them in place of the normal template.

export interface Databases extends AsyncDisposable {
  /** The newest definition of a function, as Postgres has it. */
  definition(name: string): Promise<string>;
  /** Creates a template with this definition instead; null if Postgres rejects it. */
  withFunction(definition: string): Promise<string | null>;
  drop(template: string): Promise<void>;
}

export async function openDatabases(databaseUrl: string, template: string): Promise<Databases> {
  const admin = new pg.Pool({ connectionString: databaseUrl, max: 2 });
  const made = new Set<string>();
  let number = 0;

  async function inside<R>(name: string, work: (client: pg.Client) => Promise<R>): Promise<R> {
    const client = new pg.Client({ connectionString: databaseOn(databaseUrl, name) });
    await client.connect();
    try {
      return await work(client);
    } finally {
      await client.end();
    }
  }

  async function drop(name: string): Promise<void> {
    await admin.query(`drop database if exists ${pg.escapeIdentifier(name)} with (force)`);
    made.delete(name);
  }

  return {
    definition: (name) =>
      inside(template, async (client) => {
        const { rows } = await client.query<{ text: string }>(
          'select pg_get_functiondef(oid) as text from pg_proc where proname = $1',
          [name],
        );
        if (rows.length !== 1) throw new Error(`there is no function ${name}`);
        return rows[0]!.text;
      }),
    async withFunction(definition) {
      const name = `mutant_${process.pid}_${++number}`;
      await admin.query(
        `create database ${pg.escapeIdentifier(name)} template ${pg.escapeIdentifier(template)} strategy file_copy`,
      );
      made.add(name);
      try {
        await inside(name, (client) => client.query(definition));
        return name;
      } catch {
        await drop(name);
        return null;
      }
    },
    drop,
    async [Symbol.asyncDispose]() {
      for (const name of [...made]) await drop(name);
      await admin.end();
    },
  };
}
