import { join } from 'node:path';
import { root } from '@eloquentpoll/launch/folders';
import type { ProcessGroup } from '@eloquentpoll/services/process-group';
import type { Durations } from './durations.ts';
import { FileReport, type Totals } from './file-report.ts';
import { runsAlone } from './runs-alone.ts';
import { slowSeconds } from './slow-tag.ts';

// Runs test files, several at a time, each in its own process that ends with this one. Files marked `alone` run last.

export interface FileRuns {
  group: ProcessGroup;
  env: NodeJS.ProcessEnv;
  jobs: number;
  /** Time limit of a file that does not declare itself slow. */
  limitS: number;
  print: (line: string) => void;
}

export interface SuiteOutcome extends Totals {
  durations: Durations;
  /** The failed files, each with the lines about its failures. */
  failures: { file: string; lines: string[] }[];
}

/** A test that reaches its own time limit prints what is still open; a process that fails to do so is killed. */
const KILL_AFTER_MS = 5_000;
const GRACE_MS = 3_000;
/** Extra time for a slow file, per declared second. The limit is there to stop a hanging test, not a slow machine. */
const SLOW_FACTOR = 12;

export async function runFiles(files: readonly string[], runs: FileRuns): Promise<SuiteOutcome> {
  const outcome: SuiteOutcome = { passed: 0, failed: 0, durations: {}, failures: [] };
  const isOnly = files.length === 1;
  const run = async (waiting: string[]) => {
    for (let file = waiting.shift(); file !== undefined; file = waiting.shift()) {
      const { passed, failed, ms, failures } = await runFile(file, runs, isOnly);
      outcome.passed += passed;
      outcome.failed += failed;
      if (failed === 0) outcome.durations[file] = Math.round(ms);
      else outcome.failures.push({ file, lines: failures });
    }
  };
  const last = files.filter((file) => runsAlone(join(root, file)));
  const first = files.filter((file) => !last.includes(file));
  await Promise.all(Array.from({ length: Math.min(runs.jobs, first.length) }, () => run(first)));
  await run(last);
  return outcome;
}

async function runFile(
  file: string,
  runs: FileRuns,
  isOnly: boolean,
): Promise<Totals & { ms: number; failures: string[] }> {
  // Lines are collected, so that those of parallel files are not mixed.
  const lines: string[] = [];
  const print = isOnly ? runs.print : (line: string) => void lines.push(line);
  const report = new FileReport(file, print, isOnly);
  const started = performance.now();
  const limitS = runs.limitS + SLOW_FACTOR * (slowSeconds(join(root, file)) ?? 0);
  const running = runs.group.start({
    name: file.replaceAll('/', '.'),
    file: process.execPath,
    args: [join(root, file)],
    cwd: root,
    env: { ...runs.env, TAP: '1', TAP_CHILD_ID: file, TAP_TIMEOUT: String(limitS) },
    stage: 0,
    grace_ms: GRACE_MS,
    onLine(line, stream) {
      if (stream === 'stderr') return print(`    ${line}`);
      report.line(line);
      // The file's own `t.setTimeout`.
      const longer = /^# timeout=(\d+)$/.exec(line)?.[1];
      if (longer !== undefined) limit(Number(longer));
    },
  });
  let timer: NodeJS.Timeout | undefined;
  let killed = false;
  const limit = (ms: number) => {
    clearTimeout(timer);
    timer = setTimeout(
      () => {
        killed = true;
        process.kill(-running.pid, 'SIGKILL');
      },
      started + ms + KILL_AFTER_MS - performance.now(),
    );
  };
  limit(limitS * 1_000);
  const reason = await running.ended;
  clearTimeout(timer);
  const ms = performance.now() - started;
  const fault = killed ? `was killed after ${Math.round(ms / 1_000)} s` : reason;
  const totals = report.end({ fault: fault === 'ended with code 0' ? null : fault, ms });
  for (const line of lines) runs.print(line);
  return { ...totals, ms, failures: report.failures };
}
