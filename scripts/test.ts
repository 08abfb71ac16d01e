import { randomBytes } from 'node:crypto';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { Failure, report } from '@eloquentpoll/launch/failure';
import { root } from '@eloquentpoll/launch/folders';
import { createSteps } from '@eloquentpoll/launch/steps';
import { stopRequest } from '@eloquentpoll/services/stop-request';
import { openThrowAwayGroup } from '@eloquentpoll/services/throw-away-group';
import { seed } from '@eloquentpoll/testkit/seed';
import { longestFirst, recordDurations } from './testing/durations.ts';
import { endProcesses } from './testing/leaks.ts';
import { needsOf } from './testing/needs.ts';
import { runFiles, type SuiteOutcome } from './testing/run-files.ts';
import { MAX_QUICK_S, slowSeconds } from './testing/slow-tag.ts';
import { startNeeded } from './testing/start-needed.ts';
import { type Selection, selectFiles } from './testing/test-files.ts';

// `npm test [-- FILES]`: starts the services that the files need, runs the files, checks for leaks, and prints `N
// passed, N failed` as the last line. If nothing ran, that is a failure. Everything that was started is always stopped.

/** Twice the number of cores, because most tests mostly wait; limited by the connections that Postgres accepts. */
const JOBS = Math.min(availableParallelism() * 2, 6);
/**
 * For a run of all files, which takes 10 minutes on two usual cores, and several times as long on busy ones. What hangs
 * is ended long before by the limit of its file. A long run with --timeout gets the time limit of its file.
 */
const LIMIT_MS = 120 * 60_000;
const SHOWN_SLOW = 5;
/** Per file, at the end of a run. */
const FAILURE_LINES = 40;

async function test(args: readonly string[], env: NodeJS.ProcessEnv): Promise<number> {
  const steps = createSteps(process.stdout);
  const stop = stopRequest();
  const runId = randomBytes(8).toString('hex');
  try {
    const selection = selectFiles(args);
    await using group = await openThrowAwayGroup('a test run', { neededMb: 300, inMemory: true });
    await using needed = await startNeeded(group, needsOf(selection.files), env, steps);
    const run = runFiles(longestFirst(selection.files), {
      group,
      env: { ...forTests(env), ...needed.env, TEST_RUN: runId, TEST_SEED: String(seed) },
      jobs: JOBS,
      limitS: selection.limitS,
      print: steps.line,
    });
    const limitMs = Math.max(LIMIT_MS, selection.limitS * 1_000 * 1.1);
    const ended = await Promise.race([run, stop.requested, timeLimit(limitMs)]);
    if (typeof ended === 'string') {
      await group.stop();
      await endProcesses(runId);
      throw new Failure(
        ended === 'stop'
          ? 'Stopped before the tests ended.'
          : `The tests took longer than ${Math.round(limitMs / 60_000)} minutes.`,
      );
    }
    const leaks = await needed.findLeaks(runId);
    recordDurations(ended.durations);
    remark(selection, ended, steps.line);
    // Repeated at the end: the first report is hundreds of lines above, and a log may keep only its last lines.
    if (selection.files.length > 1)
      for (const { file, lines } of ended.failures) printFailures(file, lines, steps.line);
    for (const leak of leaks) steps.line(`  ✗ ${leak}`);
    return conclude(ended.passed, ended.failed + leaks.length);
  } catch (error) {
    report(error, process.stdout);
    return conclude(0, 1);
  }
}

/**
 * A larger young generation saves short-lived processes garbage collections (8 % of the CPU time of all tests). The
 * guard blocks connections to other machines.
 */
function forTests(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const guard = import.meta.resolve('@eloquentpoll/testkit/loopback-only');
  return {
    ...env,
    NODE_OPTIONS: `--max-semi-space-size=64 ${env.NODE_OPTIONS ?? ''} --import=${guard}`,
  };
}

function printFailures(file: string, lines: readonly string[], print: (line: string) => void): void {
  print(`  ✗ ${file}`);
  for (const line of lines.slice(0, FAILURE_LINES)) print(line);
  if (lines.length > FAILURE_LINES) print(`    … ${lines.length - FAILURE_LINES} more lines above`);
}

function conclude(passed: number, failed: number): number {
  if (passed + failed === 0) console.log('No test ran, which is a failure.');
  console.log(`\n${passed} passed, ${failed} failed`);
  return failed === 0 && passed > 0 ? 0 : 1;
}

/** For information only, not a check: a busy machine takes longer. */
function remark({ leftOut, named }: Selection, { durations }: SuiteOutcome, print: (line: string) => void): void {
  print(`  … TEST_SEED=${seed} repeats what was random.`);
  if (leftOut > 0) print(`  … ${leftOut} slow files were left out: npm test runs them.`);
  if (named) return;
  const slow = Object.entries(durations)
    .filter(([file, ms]) => ms > MAX_QUICK_S * 1_000 && slowSeconds(join(root, file)) === null)
    .sort(([, a], [, b]) => b - a)
    .slice(0, SHOWN_SLOW);
  const list = slow.map(([file, ms]) => `${file} (${Math.round(ms / 1_000)} s)`).join(', ');
  if (list) print(`  … If they always take so long, these files need the line "// slow: N s": ${list}`);
}

function timeLimit(ms: number): Promise<'late'> {
  return new Promise((resolve) => setTimeout(resolve, ms, 'late').unref());
}

process.exit(await test(process.argv.slice(2), process.env));
