// @ts-check
// Where files are kept, all inside the clone and ignored by git: downloaded tools in .tools; data, secrets and logs in
// .data.

import {
  accessSync,
  closeSync,
  constants,
  fsyncSync,
  mkdirSync,
  openSync,
  rmSync,
  statfsSync,
  writeSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Failure, folderFailure } from './failure.mjs';

export const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
export const toolsFolder = join(root, '.tools');
export const dataFolder = join(root, '.data');
/** Node's cache of compiled code. Node never removes anything from it: it is emptied when packages are installed. */
export const compiledFolder = join(dataFolder, 'compile-cache');

/**
 * Settings of npm for the network. pnpm reads npm's user settings, but not the global ones or npm's environment
 * variables.
 */
const NETWORK_SETTINGS = ['registry', 'cafile', 'proxy', 'https_proxy', 'noproxy', 'strict_ssl'];

/** Checks that a folder is writable by writing to it. @param {string} folder */
export function requireWritable(folder) {
  const probe = join(folder, `.probe-${process.pid}`);
  try {
    mkdirSync(folder, { recursive: true });
    const file = openSync(probe, 'w');
    try {
      writeSync(file, Buffer.alloc(64 * 1024, 'x'));
      fsyncSync(file);
    } finally {
      closeSync(file);
      rmSync(probe, { force: true });
    }
  } catch (error) {
    throw folderFailure(error, folder) ?? error;
  }
}

/** @param {string} folder @param {number} needed_mb @param {string} purpose */
export function requireSpace(folder, needed_mb, purpose) {
  const { bavail, bsize } = statfsSync(folder);
  const free_mb = Math.floor((bavail * bsize) / 2 ** 20);
  if (free_mb < needed_mb)
    throw new Failure(
      `The disk of ${folder} has ${free_mb} MB left and ${purpose} needs about ${needed_mb} MB: free some space.`,
    );
}

/**
 * The environment for npm and pnpm. Variables left by `npm start` are removed, npm's network settings get the names
 * that pnpm reads, and a home that is missing or not ours is replaced by a folder in .tools, so that caches and stores
 * have a place.
 */
export function toolEnvironment() {
  const env = { ...process.env };
  for (const setting of NETWORK_SETTINGS) {
    const value = env[`npm_config_${setting}`];
    if (value) env[`pnpm_config_${setting}`] ??= value;
  }
  for (const name of Object.keys(env))
    if (/^(npm_(package|lifecycle)_|npm_config_(local_prefix|global_prefix|prefix|json|npm_version)$)/i.test(name))
      delete env[name];
  delete env.NODE_ENV;
  delete env.NODE_OPTIONS;
  if (usableHome(env.HOME ?? env.USERPROFILE)) return env;
  const home = join(toolsFolder, 'home');
  mkdirSync(home, { recursive: true });
  return {
    ...env,
    HOME: home,
    npm_config_cache: join(home, 'npm-cache'),
    XDG_CACHE_HOME: join(home, 'cache'),
    XDG_CONFIG_HOME: join(home, 'config'),
    XDG_DATA_HOME: join(home, 'data'),
    XDG_STATE_HOME: join(home, 'state'),
    PNPM_HOME: join(home, 'pnpm'),
  };
}

/** @param {string | undefined} home */
function usableHome(home) {
  if (!home) return false;
  try {
    accessSync(home, constants.W_OK | constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
