import { asRole, createDatabase, queryOnce, TEST_ROLE } from '@eloquentpoll/services/databases';
import type { Test } from 'tap';
import { withinOne } from './calendar.ts';
import { requireEnv } from './require-env.ts';

/**
 * A database for one test: a clone of the migrated template, dropped when the test ends. The URL is that of a role with
 * the privileges of the apps; `ownerUrl` is for planting what they may not write.
 */
export async function testDatabase(t: Test): Promise<string> {
  // Sums of days, months of tables, caps and the ids of results begin anew at midnight.
  await withinOne('day');
  const template = requireEnv('TEST_TEMPLATE_DATABASE');
  const database = await createDatabase(requireEnv('TEST_DATABASE_URL'), { prefix: 't', template });
  t.teardown(() => database[Symbol.asyncDispose]());
  return asRole(database.url, TEST_ROLE);
}

/** The same database as a role that works there alone, such as that of the gateway. */
export const roleUrl = asRole;

/** The same database as the superuser that owns it. */
export function ownerUrl(url: string): string {
  return asRole(url, new URL(requireEnv('TEST_DATABASE_URL')).username);
}

/** One statement of the owner, for what the apps may not write. */
export const asOwner = (url: string, statement: string): Promise<unknown[]> => queryOnce(ownerUrl(url), statement);
