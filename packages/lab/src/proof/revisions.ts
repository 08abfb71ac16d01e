import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { PROOF_ROWS } from './rows.ts';

// What git knows about the code: which commit is here, and whether paths have changed since another one.

const run = promisify(execFile);

/** What is measured: code, and what rows cover beside it. A document or a file of runs is no part of it. */
const MEASURED = ['apps', 'packages', 'scripts', 'package.json', ...PROOF_ROWS.flatMap(({ covers }) => covers)];
const DIGITS = 12;

async function git(root: string, ...args: string[]): Promise<string> {
  return (await run('git', ['-C', root, ...args], { maxBuffer: 64 * 1024 * 1024 })).stdout.trim();
}

/** The commit that is checked out; null without git, or where what is measured was changed and not committed. */
export async function presentRevision(root: string): Promise<string | null> {
  try {
    if ((await git(root, 'status', '--porcelain', '--', ...MEASURED)) !== '') return null;
    return (await git(root, 'rev-parse', 'HEAD')).slice(0, DIGITS);
  } catch {
    return null;
  }
}

export type CodeStanding = 'current' | 'stale' | 'unknown';

/** What the paths of a promise hold, as one short text: the same code has the same in every history. */
export type DigestOf = (paths: readonly string[]) => string;

/** Of the commit that is checked out. */
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

/** What a run knows of the code that it measured, and what a promise asks of it. */
export interface MeasuredCode {
  readonly revision: string | null;
  readonly digest: string | null;
  readonly paths: readonly string[];
}

/** Says whether these paths are still as they were measured, uncommitted changes included. */
export type StandingOf = (measured: MeasuredCode) => Promise<CodeStanding>;

/** Null where there is no git to ask. */
export async function openRevisions(root: string): Promise<StandingOf | null> {
  try {
    await git(root, 'rev-parse', '--git-dir');
  } catch {
    return null;
  }
  const digestOf = await committedCode(root);
  const changedSince = new Map<string, Promise<readonly string[] | null>>();
  // Of a revision that was rebased away since, or is outside of a shallow clone, nothing is known.
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
