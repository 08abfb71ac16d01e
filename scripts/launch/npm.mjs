// @ts-check
// Packages that are needed outside of node_modules, installed by npm: exact versions, verified by hash, no install
// scripts.

import { existsSync, mkdirSync, realpathSync, writeFileSync } from 'node:fs';
import { basename, delimiter, join } from 'node:path';
import { Failure } from './failure.mjs';
import { toolEnvironment } from './folders.mjs';
import { runTool } from './run-tool.mjs';

const OPTIONS = ['--ignore-scripts', '--no-audit', '--no-fund', '--yes', '--prefer-offline'];

/**
 * @param {string} folder
 * @param {Readonly<Record<string, { version: string, hash: string }>>} packages by name
 * @param {{ log: string, sentence: string }} words the log's name, and what to say when it fails
 */
export async function installExactly(folder, packages, { log, sentence }) {
  const named = Object.entries(packages);
  const dependencies = Object.fromEntries(named.map(([name, { version }]) => [name, version]));
  const entries = named.map(([name, { version, hash }]) => [`node_modules/${name}`, { version, integrity: hash }]);
  const locked = { '': { dependencies }, ...Object.fromEntries(entries) };
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ private: true, dependencies }));
  writeFileSync(
    join(folder, 'package-lock.json'),
    JSON.stringify({ lockfileVersion: 3, requires: true, packages: locked }),
  );
  const [npm, ...first] = npmCommand();
  const args = [...first, 'ci', '--prefix', folder, ...OPTIONS];
  await runTool(log, npm, args, { cwd: folder, env: toolEnvironment(), sentence });
}

/** The command that starts npm. @returns {[string, ...string[]]} */
export function npmCommand() {
  const running = process.env.npm_execpath;
  if (running && basename(running) === 'npm-cli.js' && existsSync(running)) return [process.execPath, running];
  const [npm] = onPath(process.platform === 'win32' ? 'npm.cmd' : 'npm');
  if (!npm)
    throw new Failure('npm is not on the PATH, and Node 24 or pnpm 11 are missing: install npm, or both of them.');
  return [npm];
}

/** @param {string} name @returns {string[]} */
export function onPath(name) {
  const files = (process.env.PATH ?? '')
    .split(delimiter)
    .filter(Boolean)
    .map((folder) => join(folder, name));
  return [...new Map(files.filter((file) => existsSync(file)).map((file) => [realpathSync(file), file])).values()];
}
