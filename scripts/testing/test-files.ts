import { existsSync, globSync, statSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { Failure } from '@eloquentpoll/launch/failure';
import { root } from '@eloquentpoll/launch/folders';
import { slowSeconds } from './slow-tag.ts';

// The files of a run: all test files, the named ones, or those in a named folder.

export interface Selection {
  /** Relative to the repository. */
  files: string[];
  /** Number of slow files that the quick run leaves out. */
  leftOut: number;
  /** Whether files or folders were named; otherwise all files run. */
  named: boolean;
  /** Time limit for a file that does not declare itself slow: it ends what hangs, on a machine ten times slower too. */
  limitS: number;
}

const EVERYTHING = ['apps/*/test/**/*.test.ts', 'packages/*/test/**/*.test.ts', 'scripts/test/**/*.test.ts'];
const LIMIT_S = 300;
const USAGE = 'Use: npm test -- [--quick] [--timeout=SECONDS] [FILE or FOLDER ...]';

export function selectFiles(args: readonly string[]): Selection {
  const { values, positionals } = parsed(args);
  const named = positionals.flatMap((path) => testsAt(path));
  const all = positionals.length > 0 ? [...new Set(named)] : tests(EVERYTHING);
  const limitS = values.timeout === undefined ? LIMIT_S : Number(values.timeout);
  if (!(limitS > 0)) throw new Failure(`--timeout=${values.timeout} is not a number of seconds. ${USAGE}`);
  const files = values.quick ? all.filter((file) => slowSeconds(join(root, file)) === null) : all;
  return { files, leftOut: all.length - files.length, named: positionals.length > 0, limitS };
}

function parsed(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      options: { quick: { type: 'boolean' }, timeout: { type: 'string' } },
      allowPositionals: true,
    });
  } catch (error) {
    throw new Failure(`${error instanceof Error ? error.message : error} ${USAGE}`);
  }
}

function testsAt(path: string): string[] {
  if (/[*?{]/.test(path)) return tests([path]);
  const full = [resolve(root, path), resolve(path)].find((candidate) => existsSync(candidate));
  if (!full) throw new Failure(`There is no test file ${path}.`);
  const name = relative(root, full);
  return statSync(full).isDirectory() ? tests([`${name}/**/*.test.ts`]) : [name];
}

const tests = (patterns: readonly string[]): string[] =>
  globSync(patterns, { cwd: root, exclude: ['**/node_modules/**'] }).sort();
