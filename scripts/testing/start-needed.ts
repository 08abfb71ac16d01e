import { join } from 'node:path';
import type { Steps } from '@eloquentpoll/launch/steps';
import { runStep } from '@eloquentpoll/launch/steps';
import type { ProcessGroup } from '@eloquentpoll/services/process-group';
import type { Need } from './needs.ts';

// Starts only what the chosen test files need: a test of pure code does not wait for a server.

export interface Needed extends AsyncDisposable {
  /** Environment variables for the tests. */
  env: NodeJS.ProcessEnv;
  findLeaks(runId: string): Promise<string[]>;
}

const NOT_STARTED = {
  TEST_BUNDLES: undefined,
  TEST_DATABASE_URL: undefined,
  TEST_TEMPLATE_DATABASE: undefined,
  TEST_REDIS_URL: undefined,
};

export async function startNeeded(
  group: ProcessGroup,
  needs: ReadonlySet<Need>,
  env: NodeJS.ProcessEnv,
  steps: Steps,
): Promise<Needed> {
  const [servers, browser, bundles] = await Promise.all([
    needs.has('postgres') || needs.has('redis') ? startServers(group, env, steps) : null,
    needs.has('browser') ? findBrowser(env, steps) : {},
    needs.has('bundles') ? makeBundles(join(group.folder, 'bundles'), steps) : {},
  ]);
  const { findLeaks } = await import('./leaks.ts');
  return {
    env: { ...NOT_STARTED, ...servers?.env, ...browser, ...bundles },
    findLeaks: (runId) => findLeaks(servers?.services ?? null, runId),
    [Symbol.asyncDispose]: async () => servers?.services[Symbol.asyncDispose](),
  };
}

// Imported only when needed: loading the drivers takes longer than many tests.
async function startServers(group: ProcessGroup, env: NodeJS.ProcessEnv, steps: Steps) {
  const { createTemplate, grantLedgerToTests, TEMPLATE } = await import('@eloquentpoll/services/databases');
  const { startThrowAwayServers } = await import('@eloquentpoll/services/throw-away-servers');
  const { APP_ROLES, migrate } = await import('@eloquentpoll/storage');
  const services = await runStep(
    steps,
    'services',
    'starting',
    () => startThrowAwayServers(group, env),
    ({ summary }) => summary,
  );
  const prepare = async (url: string): Promise<void> => {
    await migrate(url);
    await grantLedgerToTests(url);
  };
  await runStep(steps, 'template', 'the database that tests clone', () =>
    createTemplate(services.databaseUrl, { roles: APP_ROLES, migrate: prepare }),
  );
  const urls = {
    TEST_DATABASE_URL: services.databaseUrl,
    TEST_TEMPLATE_DATABASE: TEMPLATE,
    TEST_REDIS_URL: services.redisUrl,
  };
  return { services, env: urls };
}

/** Campaigns start an app many times, and a bundle starts in a quarter of the time of the sources. */
async function makeBundles(into: string, steps: Steps) {
  const { APPS, bundleApp } = await import('../bundling/bundle-apps.ts');
  await runStep(steps, 'bundles', 'the apps as they are shipped', () =>
    Promise.all(APPS.map((app) => bundleApp(app, into))),
  );
  return { TEST_BUNDLES: into };
}

async function findBrowser(env: NodeJS.ProcessEnv, steps: Steps) {
  const { chromiumForTests } = await import('@eloquentpoll/testkit/bring-chromium');
  return runStep(
    steps,
    'browser',
    'for tests of pages',
    () => chromiumForTests(env),
    ({ CHROMIUM_PATH, CHROMIUM_MISSING }) => CHROMIUM_PATH ?? CHROMIUM_MISSING ?? '',
  );
}
