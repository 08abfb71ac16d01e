// @ts-check
// Installs the packages of the lockfile, but only after a relevant change: to the lockfile, the workspace settings, a
// package.json, or the Node version or platform that native parts were installed for.

import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Failure } from './failure.mjs';
import { compiledFolder, dataFolder, requireSpace, root, toolEnvironment, toolsFolder } from './folders.mjs';
import { runTool } from './run-tool.mjs';
import { nodeFirst } from './tools.mjs';

const stamp = join(root, 'node_modules', '.installed-for');

/** @param {string} node */
export function packagesAreInstalled(node) {
  return existsSync(stamp) && readFileSync(stamp, 'utf8') === fingerprint(node);
}

/** @param {string} node @param {[string, ...string[]]} pnpm @param {(text: string) => void} progress */
export async function installPackages(node, pnpm, progress) {
  requireSpace(root, 900, 'installing the packages');
  const home = toolEnvironment();
  const store = home.HOME?.startsWith(toolsFolder) ? ['--store-dir', join(toolsFolder, 'pnpm-store')] : [];
  const [file, ...first] = pnpm;
  const quiet = ['--reporter=append-only', '--config.confirmModulesPurge=false', '--config.updateNotifier=false'];
  // Otherwise pnpm would consider the folder up to date after an install that left out a package, and never fetch it.
  const whole = ['--config.optimisticRepeatInstall=false'];
  /** @type {string | undefined} */
  let missing;
  await runTool('packages', file, [...first, 'install', '--frozen-lockfile', ...whole, ...quiet, ...store], {
    cwd: root,
    env: nodeFirst(home, node),
    sentence: 'pnpm could not install the packages: its words are above.',
    onLine: (line) => {
      const match = /resolved (\d+), reused (\d+), downloaded (\d+)/.exec(line);
      // pnpm skips these and reports success, but for us they are Postgres and the compilers for this platform.
      missing ??= /(\S+) is an optional dependency that could not be fetched/.exec(line)?.[1];
      if (match) progress(`${Number(match[2]) + Number(match[3])} of ${match[1]}`);
    },
  });
  if (missing)
    throw new Failure(`The package ${missing} could not be fetched from the package registry: run it again.`, [
      `pnpm's words are in ${join(dataFolder, 'logs', 'packages.log')}`,
    ]);
  rmSync(compiledFolder, { recursive: true, force: true });
  writeFileSync(stamp, fingerprint(node));
}

/** @param {string} node */
function fingerprint(node) {
  const hash = createHash('sha256');
  const manifests = ['.', 'scripts', 'scripts/launch', ...['apps', 'packages'].flatMap(foldersOf)].map((folder) =>
    join(folder, 'package.json'),
  );
  for (const file of ['pnpm-lock.yaml', 'pnpm-workspace.yaml', ...manifests])
    if (existsSync(join(root, file))) hash.update(`${file}\n${readFileSync(join(root, file), 'utf8')}\n`);
  hash.update(`${process.platform} ${process.arch} ${majorOf(node)}`);
  return hash.digest('hex');
}

/** @param {string} folder */
function foldersOf(folder) {
  return existsSync(join(root, folder))
    ? readdirSync(join(root, folder))
        .sort()
        .map((name) => join(folder, name))
    : [];
}

/** @param {string} node */
function majorOf(node) {
  if (node === process.execPath) return process.versions.modules;
  return spawnSync(node, ['-p', 'process.versions.modules'], { encoding: 'utf8', env: {} }).stdout?.trim();
}
