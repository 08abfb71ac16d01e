import { asRole, createDatabase, queryOnce, TEST_ROLE } from '@eloquentpoll/services/databases';
import type { Test } from 'tap';
import { withinOne } from './calendar.ts';
import { requireEnv } from './require-env.ts';

/**
 * A database for one test: a clone of the migrated template, dropped when the test ends. The URL is for a role with the
 * rights of the apps; `ownerUrl` is for inserting data that the apps may not write.
 */
export async function testDatabase(t: Test): Promise<string> {
  // Daily sums, monthly partitions, caps and the ids of results change at midnight.
  await withinOne('day');
  const template = requireEnv('TEST_TEMPLATE_DATABASE');
  const database = await createDatabase(requireEnv('TEST_DATABASE_URL'), { prefix: 't', template });
  t.teardown(() => database[Symbol.asyncDispose]());
  return asRole(database.url, TEST_ROLE);
}

/** The URL of the same database for a role with only its own rights, such as the gateway's. */
export const roleUrl = asRole;

/** The URL of the same database for the superuser that owns it. */
export function ownerUrl(url: string): string {
  return asRole(url, new URL(requireEnv('TEST_DATABASE_URL')).username);
}

/** Runs one statement as the owner, for data that the apps may not write. */
export const asOwner = (url: string, statement: string): Promise<unknown[]> => queryOnce(ownerUrl(url), statement);
