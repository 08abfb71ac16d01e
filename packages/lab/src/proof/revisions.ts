import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { PROOF_ROWS } from './rows.ts';

// What git knows about the code: which commit is here, and whether paths have changed since another one.

const run = promisify(execFile);

/** All code, and what else rows cover. Documents and recorded runs do not change what is measured. */
const MEASURED = ['apps', 'packages', 'scripts', 'package.json', ...PROOF_ROWS.flatMap(({ covers }) => covers)];
const DIGITS = 12;

async function git(root: string, ...args: string[]): Promise<string> {
  return (await run('git', ['-C', root, ...args], { maxBuffer: 64 * 1024 * 1024 })).stdout.trim();
}

/** The commit that is checked out; null without git, or if there are uncommitted changes to what is measured. */
export async function presentRevision(root: string): Promise<string | null> {
  try {
    if ((await git(root, 'status', '--porcelain', '--', ...MEASURED)) !== '') return null;
    return (await git(root, 'rev-parse', 'HEAD')).slice(0, DIGITS);
  } catch {
    return null;
  }
}

export type CodeStanding = 'current' | 'stale' | 'unknown';

/** A short digest of the files under these paths: equal code has an equal digest in every history. */
export type DigestOf = (paths: readonly string[]) => string;

/** For the commit that is checked out. */
export async function committedCode(root: string): Promise<DigestOf> {
  const files = (await git(root, 'ls-tree', '-r', 'HEAD')).split('\n').map((line) => {
    const [entry = '', name = ''] = line.split('\t');
    return { name, line: `${entry.split(' ')[2]} ${name}` };
  });
  return (paths) => {
    const held = files.filter(({ name }) => isIn(name, paths)).map(({ line }) => line);
    return createHash('sha256').update(held.join('\n')).digest('hex').slice(0, DIGITS);
  };
}

/** The code that a run measured, and the paths that its row covers. */
export interface MeasuredCode {
  readonly revision: string | null;
  readonly digest: string | null;
  readonly paths: readonly string[];
}

/** Whether these paths are still as they were measured; uncommitted changes count as changes. */
export type StandingOf = (measured: MeasuredCode) => Promise<CodeStanding>;

/** Null without git. */
export async function openRevisions(root: string): Promise<StandingOf | null> {
  try {
    await git(root, 'rev-parse', '--git-dir');
  } catch {
    return null;
  }
  const digestOf = await committedCode(root);
  const changedSince = new Map<string, Promise<readonly string[] | null>>();
  // Null if the revision was rebased away or is not part of a shallow clone.
  function changed(revision: string): Promise<readonly string[] | null> {
    let names = changedSince.get(revision);
    names ??= git(root, 'diff', '--name-only', '--no-renames', revision, '--').then(
      (text) => text.split('\n'),
      () => null,
    );
    changedSince.set(revision, names);
    return names;
  }
  return async ({ revision, digest, paths }) => {
    const isChanged = (names: readonly string[] | null) => names?.some((name) => isIn(name, paths));
    if (digest !== null) return digest !== digestOf(paths) || isChanged(await changed('HEAD')) ? 'stale' : 'current';
    const names = revision === null ? null : await changed(revision);
    if (names === null) return 'unknown';
    return isChanged(names) ? 'stale' : 'current';
  };
}

const isIn = (name: string, paths: readonly string[]): boolean =>
  paths.some((path) => name === path || name.startsWith(`${path}/`));
