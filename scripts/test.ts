import { randomBytes } from 'node:crypto';
import { chmodSync, existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Failure, report } from './launch/failure.mjs';
import { requireSpace, root } from './launch/folders.mjs';
import { createSteps, runStep } from './launch/steps.mjs';
import { Household } from './services/household.ts';
import { stopRequest } from './start/stop-request.ts';
import { chromiumForTests } from './testing/chromium.ts';
import { findLeaks } from './testing/leaks.ts';
import { TapReport } from './testing/tap-report.ts';
import { makeTemplate, startTestServices, TEMPLATE, type TestServices } from './testing/test-services.ts';

// `npm test [-- FILES]`: throw-away services, a migrated template database, tap, leak checks, and as the last line
// `N passed, N failed`. Nothing run is a failure; whatever happens, everything that was started is ended.

/** In a run of everything, the long lists that a test prints are cut; run its file alone to read them. */
const SHORT_COMMENT = 110;
const LIMIT_MS = 20 * 60_000;

async function test(args: readonly string[], env: NodeJS.ProcessEnv): Promise<number> {
  const steps = createSteps(process.stdout);
  const stop = stopRequest();
  const runId = randomBytes(8).toString('hex');
  const folder = mkdtempSync(join(tmpdir(), 'eloquentpoll-test-'));
  try {
    requireFiles(args);
    chmodSync(folder, 0o755);
    requireSpace(folder, 300, 'a test run');
    await using household = await Household.open(folder);
    household.temporary(folder);
    await using services = await runStep(
      steps,
      'services',
      'starting',
      () => startTestServices(household, env),
      ({ summary }) => summary,
    );
    await runStep(steps, 'template', 'the database that tests clone', () => makeTemplate(services.databaseUrl));
    const chromium = await runStep(steps, 'browser', 'for tests of pages', () => chromiumForTests(env), told);
    const tap = runTap(household, services, args, { ...env, ...chromium, TEST_RUN: runId }, steps.line);
    const ended = await Promise.race([tap, stop.requested, timeLimit()]);
    if (typeof ended === 'string') {
      await household.stop();
      throw new Failure(
        ended === 'stop'
          ? 'Stopped before the tests ended.'
          : `The tests took longer than ${LIMIT_MS / 60_000} minutes.`,
      );
    }
    const leaks = await findLeaks(services, runId);
    for (const leak of leaks) steps.line(`  ✗ ${leak}`);
    return conclude(ended.passed, ended.failed + leaks.length);
  } catch (error) {
    report(error, process.stdout);
    return conclude(0, 1);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const told = ({ CHROMIUM_PATH, CHROMIUM_MISSING }: NodeJS.ProcessEnv) => CHROMIUM_PATH ?? CHROMIUM_MISSING ?? '';

async function runTap(
  household: Household,
  services: TestServices,
  args: readonly string[],
  env: NodeJS.ProcessEnv,
  print: (line: string) => void,
): Promise<{ passed: number; failed: number }> {
  const tapReport = new TapReport(print, args.length > 0 ? undefined : SHORT_COMMENT);
  const guard = import.meta.resolve('@eloquentpoll/testkit/loopback-only');
  const tap = household.start({
    name: 'tap',
    file: process.execPath,
    args: [join(root, 'node_modules/tap/dist/esm/run.mjs'), '--reporter=tap', '--no-color', ...args],
    cwd: root,
    env: {
      ...env,
      NODE_OPTIONS: `${env.NODE_OPTIONS ?? ''} --import=${guard}`.trim(),
      TEST_DATABASE_URL: services.databaseUrl,
      TEST_TEMPLATE_DATABASE: TEMPLATE,
      TEST_REDIS_URL: services.redisUrl,
    },
    stage: 0,
    patience_ms: 3_000,
    onLine: (line, stream) => (stream === 'stdout' ? tapReport.line(line) : print(`    ${line}`)),
  });
  const reason = await tap.ended;
  const totals = tapReport.end();
  // tap's own verdict counts too: it may fail for what no single test says.
  const silentFailure = totals.failed === 0 && reason !== 'ended with code 0';
  if (silentFailure) print(`  ✗ tap ${reason}`);
  return { passed: totals.passed, failed: totals.failed + (silentFailure ? 1 : 0) };
}

function requireFiles(args: readonly string[]): void {
  for (const file of args)
    if (!file.startsWith('-') && !/[*?{=]/.test(file) && !existsSync(join(root, file)) && !existsSync(file))
      throw new Failure(`There is no test file ${file}.`);
}

function conclude(passed: number, failed: number): number {
  if (passed + failed === 0) console.log('No test ran, which is a failure.');
  console.log(`\n${passed} passed, ${failed} failed`);
  return failed === 0 && passed > 0 ? 0 : 1;
}

function timeLimit(): Promise<'late'> {
  return new Promise((resolve) => setTimeout(resolve, LIMIT_MS, 'late').unref());
}

process.exit(await test(process.argv.slice(2), process.env));
