import { spawn } from 'node:child_process';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { Mutant } from './mutant.ts';

const LOADER = new URL('load-mutant.ts', import.meta.url).href;
const ALL_TESTS = fileURLToPath(new URL('all-tests.ts', import.meta.url));

export interface TestRun {
  readonly tests: readonly string[];
  readonly env: NodeJS.ProcessEnv;
  readonly limitMs: number;
  /** The module that is loaded with a change. */
  readonly mutated?: { readonly file: string; readonly mutant: Mutant };
}

export type TestsOutcome = 'passed' | 'failed' | 'late';

/** Runs all tests in one new process, until the first failure. */
export function runTests({ tests, env, limitMs, mutated }: TestRun): Promise<TestsOutcome> {
  const change = mutated && {
    MUTANT_URL: pathToFileURL(mutated.file).href,
    MUTANT: JSON.stringify(mutated.mutant),
  };
  const child = spawn(process.execPath, ['--import', LOADER, ALL_TESTS, ...tests], {
    // tap sees all files as one, so its timeout must allow for all of them. The timer below decides what is too late.
    env: { ...env, ...change, TAP_BAIL: '1', TAP_TIMEOUT: String(Math.ceil(limitMs / 1_000)), NODE_OPTIONS: '' },
    stdio: 'ignore',
    detached: true,
  });
  // Kills the whole process group: a killed test does not stop the processes that it started.
  const endAll = (): void => {
    try {
      process.kill(-child.pid!, 'SIGKILL');
    } catch {
      // All of them have ended already.
    }
  };
  process.once('exit', endAll);
  return new Promise((resolve, reject) => {
    let isLate = false;
    const timer = setTimeout(() => {
      isLate = true;
      endAll();
    }, limitMs);
    child.on('error', reject);
    child.on('exit', (code) => {
      clearTimeout(timer);
      process.off('exit', endAll);
      endAll();
      if (isLate) resolve('late');
      else resolve(code === 0 ? 'passed' : 'failed');
    });
  });
}
