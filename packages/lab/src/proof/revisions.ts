import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

// What git knows about the code: which commit is here, and whether paths have changed since another one.

const run = promisify(execFile);

/** Where code is; a change of a document or of a file of runs changes nothing that is measured. */
const CODE = ['apps', 'packages', 'scripts', 'package.json', 'pnpm-lock.yaml'];
const DIGITS = 12;

async function git(root: string, ...args: string[]): Promise<string> {
  return (await run('git', ['-C', root, ...args], { maxBuffer: 64 * 1024 * 1024 })).stdout.trim();
}

/** The commit that is checked out; null without git, or where its code was changed and not committed. */
export async function presentRevision(root: string): Promise<string | null> {
  try {
    if ((await git(root, 'status', '--porcelain', '--', ...CODE)) !== '') return null;
    return (await git(root, 'rev-parse', 'HEAD')).slice(0, DIGITS);
  } catch {
    return null;
  }
}

export type CodeStanding = 'current' | 'stale' | 'unknown';

/** Says of a revision whether these paths are still as they were then, uncommitted changes included. */
export type StandingOf = (revision: string | null, paths: readonly string[]) => Promise<CodeStanding>;

/** Null where there is no git to ask. */
export async function openRevisions(root: string): Promise<StandingOf | null> {
  try {
    await git(root, 'rev-parse', '--git-dir');
  } catch {
    return null;
  }
  const changedSince = new Map<string, Promise<readonly string[] | null>>();
  // Of a revision that was rebased away since, or is outside of a shallow clone, nothing is known.
  const changed = (revision: string) =>
    git(root, 'diff', '--name-only', '--no-renames', revision, '--').then(
      (names) => names.split('\n'),
      () => null,
    );
  return async (revision, paths) => {
    if (revision === null) return 'unknown';
    if (!changedSince.has(revision)) changedSince.set(revision, changed(revision));
    const names = await changedSince.get(revision)!;
    if (names === null) return 'unknown';
    return names.some((name) => paths.some((path) => name === path || name.startsWith(`${path}/`)))
      ? 'stale'
      : 'current';
  };
}
