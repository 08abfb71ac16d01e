import { openStorage, type Storage } from '@eloquentpoll/storage';
import { ownerUrl, testDatabase } from '@eloquentpoll/testkit/database';
import pg from 'pg';
import type { Test } from 'tap';

export interface FrozenDatabase {
  readonly storage: Storage;
  /** What `now()` answers everywhere in this database. */
  setTime(at: number): Promise<void>;
  query<R>(text: string): Promise<R[]>;
}

/** A real database in which time stands still: every `now()` of ours is answered from a table. */
export async function frozenDatabase(t: Test): Promise<FrozenDatabase> {
  const url = await testDatabase(t);
  const admin = new pg.Client({ connectionString: ownerUrl(url) });
  await admin.connect();
  const name = new URL(url).pathname.slice(1);
  await admin.query(`
    create schema frozen;
    create table frozen.clock (at timestamptz not null);
    insert into frozen.clock values ('2026-01-01');
    create function frozen.now() returns timestamptz language sql stable as 'select at from frozen.clock';
    alter table polls alter column created_at set default frozen.now();
    grant usage on schema frozen to public;
    grant select on frozen.clock to public;
    do $$ declare f regprocedure; begin
      for f in select oid from pg_proc where pronamespace = 'public'::regnamespace and proconfig is not null loop
        execute format('alter function %s set search_path = frozen, pg_catalog, public, pg_temp', f);
      end loop;
    end $$;
    alter database ${pg.escapeIdentifier(name)} set search_path = frozen, pg_catalog, public`);
  const timeouts = { connectTimeoutMs: 30_000, statementTimeoutMs: 30_000, lockTimeoutMs: 30_000 };
  const storage = openStorage({ databaseUrl: url, maxConnections: 2, ...timeouts });
  t.teardown(async () => {
    await storage[Symbol.asyncDispose]();
    await admin.end();
  });
  return {
    storage,
    async setTime(at) {
      await admin.query('update frozen.clock set at = $1', [new Date(at)]);
    },
    query: async (text) => (await admin.query(text)).rows,
  };
}
