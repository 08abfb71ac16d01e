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

export interface ChangedFile {
  readonly name: string;
  /** Added and removed; 0 for a file that is not text. */
  readonly lines: number;
}

/** Uncommitted changes count as changes. */
export interface Revisions {
  /** Whether these paths are still as they were measured. */
  standingOf(measured: MeasuredCode): Promise<CodeStanding>;
  /** What has changed in them since, most first; null if the revision is not known here. */
  changesSince(measured: MeasuredCode): Promise<ChangedFile[] | null>;
}

/** Null without git. */
export async function openRevisions(root: string): Promise<Revisions | null> {
  try {
    await git(root, 'rev-parse', '--git-dir');
  } catch {
    return null;
  }
  const digestOf = await committedCode(root);
  const allSince = new Map<string, Promise<readonly ChangedFile[] | null>>();
  // Null if the revision was rebased away or is not part of a shallow clone.
  function changed(revision: string, paths: readonly string[]): Promise<ChangedFile[] | null> {
    let all = allSince.get(revision);
    // Without the recorded runs and the documents, whose differences take git most of the time.
    all ??= git(root, 'diff', '--numstat', '--no-renames', revision, '--', ...MEASURED).then(readChanges, () => null);
    allSince.set(revision, all);
    return all.then((files) => files?.filter(({ name }) => isIn(name, paths)) ?? null);
  }
  return {
    async standingOf({ revision, digest, paths }) {
      if (digest !== null) {
        const uncommitted = (await changed('HEAD', paths)) ?? [];
        return digest !== digestOf(paths) || uncommitted.length > 0 ? 'stale' : 'current';
      }
      const files = revision === null ? null : await changed(revision, paths);
      return files === null ? 'unknown' : files.length > 0 ? 'stale' : 'current';
    },
    async changesSince({ revision, paths }) {
      const files = revision === null ? null : await changed(revision, paths);
      return files?.toSorted((a, b) => b.lines - a.lines) ?? null;
    },
  };
}

/** Lines of `added removed name`, separated by tabs; a dash for a file that is not text. */
const readChanges = (text: string): ChangedFile[] =>
  text
    .split('\n')
    .filter(Boolean)
    .map((line) => {
      const [added, removed, name = ''] = line.split('\t');
      return { name, lines: (Number(added) || 0) + (Number(removed) || 0) };
    });

const isIn = (name: string, paths: readonly string[]): boolean =>
  paths.some((path) => name === path || name.startsWith(`${path}/`));
