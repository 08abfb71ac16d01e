import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { Failure } from '@eloquentpoll/launch/failure';
import { requireSpace, root, toolEnvironment, toolsFolder } from '@eloquentpoll/launch/folders';
import { runTool } from '@eloquentpoll/launch/run-tool';
import { findPnpm, nodeFirst } from '@eloquentpoll/launch/tools';
import { runProgram } from '@eloquentpoll/services/run-program';
import { bundleInto, type Release, releaseIn } from './release.ts';

// Builds a revision of this repository as it was built then: its files from git, the packages of its own lockfile, its
// own bundler. Only what is shipped is kept.

const GIT_MS = 60_000;

export async function bringRelease(revision: string): Promise<Release> {
  const commit = await git('rev-parse', '--verify', '--quiet', `${revision}^{commit}`);
  const name = commit.slice(0, 8);
  const kept = join(toolsFolder, 'releases', name);
  if (existsSync(kept)) return releaseIn(kept, name);
  const work = `${kept}.${process.pid}.new`;
  const source = join(work, 'source');
  mkdirSync(source, { recursive: true });
  try {
    requireSpace(work, 1_000, `building revision ${name}`);
    const files = join(work, 'source.tar');
    await git('archive', '--output', files, commit);
    const unpacked = await runProgram('tar', ['-xf', files, '-C', source], {}, GIT_MS);
    if (!unpacked.ok) throw new Failure(`The files of ${name} could not be unpacked.`, unpacked.output.split('\n'));
    await installPackages(source, name);
    const shipped = join(work, 'shipped');
    await bundleInto(shipped, source);
    renameSync(shipped, kept);
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
  return releaseIn(kept, name);
}

/** Of the releases from which this checkout descends. */
export async function newestTag(): Promise<string> {
  const { ok, output } = await runProgram('git', ['describe', '--abbrev=0', '--match', 'v*'], { cwd: root }, GIT_MS);
  if (!ok) throw new Failure('No release has a tag here: name the older one with --from REVISION.');
  return output.trim();
}

async function installPackages(folder: string, name: string): Promise<void> {
  const pnpm = findPnpm(process.execPath);
  if (!pnpm) throw new Failure('There is no pnpm 11 here: npm start brings it.');
  const [file, ...first] = pnpm;
  const args = [...first, 'install', '--frozen-lockfile', '--prefer-offline', '--reporter=append-only'];
  const env = nodeFirst(toolEnvironment(), process.execPath);
  const sentence = `pnpm could not install the packages of revision ${name}.`;
  await runTool('release', file, args, { cwd: folder, env, sentence });
}

async function git(...args: string[]): Promise<string> {
  const { ok, output } = await runProgram('git', args, { cwd: root }, GIT_MS);
  if (!ok) throw new Failure(`git ${args.join(' ')} failed: name a revision that this clone has.`, output.split('\n'));
  return output.trim();
}
