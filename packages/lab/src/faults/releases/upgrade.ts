import { join } from 'node:path';
import { createDatabase, createRole } from '@eloquentpoll/services/databases';
import { APP_ROLES, migrate } from '@eloquentpoll/storage';
import pg from 'pg';
import { bringRelease } from './bring-release.ts';
import { presentRelease, type Release, runOperator } from './release.ts';
import { schemaOf } from './schema-of.ts';

// Two releases on one Postgres, each with its own programs. Processes work in the restricted roles, as documented.

export interface Upgrade {
  readonly from: Release;
  readonly to: Release;
  /** Migrates a new database to the schema of the older release. */
  begin(databaseUrl: string): Promise<void>;
  /** Migrates it to the schema of the newer release, as an operator does. */
  migrate(databaseUrl: string): Promise<void>;
  /** What a migrated database has that a new one of the newer release has not, and the reverse. */
  differences(databaseUrl: string): Promise<string[]>;
}

/** `folder`: where the newer release, which is this checkout, is bundled. */
export async function openUpgrade(revision: string, serverUrl: string, folder: string): Promise<Upgrade> {
  const from = await bringRelease(revision);
  const to = await presentRelease(join(folder, 'this-release'));
  for (const role of APP_ROLES) await createRole(serverUrl, role);
  const migrateBy = async ({ migrate: file }: Release, databaseUrl: string): Promise<void> => {
    await runOperator(file, [], { DATABASE_URL: databaseUrl });
  };
  await using tried = await createDatabase(serverUrl, { prefix: 'ep_tried' });
  await migrateBy(from, tried.url);
  await migrateBy(to, tried.url);
  return {
    from,
    to,
    begin: (databaseUrl) => migrateBy(from, databaseUrl),
    migrate: (databaseUrl) => migrateBy(to, databaseUrl),
    async differences(databaseUrl) {
      await using fresh = await createDatabase(serverUrl, { prefix: 'ep_fresh' });
      await migrate(fresh.url);
      const [upgraded, made] = [await read(databaseUrl), await read(fresh.url)];
      return [
        ...[...made].filter((line) => !upgraded.has(line)).map((line) => `missing: ${line}`),
        ...[...upgraded].filter((line) => !made.has(line)).map((line) => `left over: ${line}`),
      ];
    },
  };
}

async function read(databaseUrl: string): Promise<Set<string>> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    return await schemaOf(client);
  } finally {
    await client.end();
  }
}
