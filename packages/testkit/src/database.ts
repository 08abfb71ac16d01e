import { createDatabase } from '@eloquentpoll/services/databases';
import type { Test } from 'tap';
import { requireEnv } from './require-env.ts';

/** A database for one test: a clone of the migrated template, dropped when the test ends. */
export async function testDatabase(t: Test): Promise<string> {
  const template = requireEnv('TEST_TEMPLATE_DATABASE');
  const database = await createDatabase(requireEnv('TEST_DATABASE_URL'), { prefix: 't', template });
  t.teardown(() => database[Symbol.asyncDispose]());
  return database.url;
}
