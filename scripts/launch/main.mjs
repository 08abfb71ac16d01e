// @ts-check
// Installs what is missing, one line per step, then runs the command with Node 24. A second launch in the same clone
// waits for the first one's installation.

import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { Failure, report } from './failure.mjs';
import { compiledFolder, dataFolder, requireWritable, root } from './folders.mjs';
import { lock } from './lock.mjs';
import { installPackages, packagesAreInstalled } from './packages.mjs';
import { createSteps, runStep } from './steps.mjs';
import { bringTools, findNode, findPnpm } from './tools.mjs';

const COMMANDS = new Set(['start', 'test', 'check']);

/** @param {string[]} argv a command (`start`, `test`, `check`) or a TypeScript file of this repository, and its arguments */
export async function main([command = 'start', ...args]) {
  const json = process.env.npm_config_json === 'true' || args.includes('--json');
  const steps = createSteps(json ? process.stderr : process.stdout);
  try {
    const script = COMMANDS.has(command) ? join(root, 'scripts', `${command}.ts`) : resolve(root, command);
    if (!existsSync(script))
      throw new Failure(`There is no command ${command}: use start, test, check or a file of this repository.`);
    const node = await prepare(steps);
    process.exitCode = await handOver(node, script, args);
  } catch (error) {
    report(error);
    process.exitCode = 1;
  }
}

/** Returns a Node 24 once the packages are installed. @param {ReturnType<typeof createSteps>} steps */
async function prepare(steps) {
  const ready = findNode();
  if (ready && packagesAreInstalled(ready)) return ready;
  requireWritable(dataFolder);
  const release = await lock(join(dataFolder, 'install.lock'), {
    onWait: (owner) => steps.line(`  … waiting for process ${owner.pid}, which is installing here`),
  });
  try {
    const node = findNode() ?? (await bring(steps, 'Node 24', { node: true, pnpm: true }, findNode));
    if (!packagesAreInstalled(node)) {
      const pnpm = findPnpm(node) ?? (await bring(steps, 'pnpm 11', { node: false, pnpm: true }, () => findPnpm(node)));
      await runStep(
        steps,
        'packages',
        'installing',
        (step) => installPackages(node, pnpm, (text) => step.detail(`installing ${text}`)),
        () => 'installed as the lockfile says',
      );
    }
    return node;
  } finally {
    release();
  }
}

/**
 * @template T
 * @param {ReturnType<typeof createSteps>} steps @param {string} name @param {{ node: boolean, pnpm: boolean }} wanted
 * @param {() => T | null} find @returns {Promise<T>}
 */
async function bring(steps, name, wanted, find) {
  await runStep(steps, name, 'from npm into .tools', () => bringTools(wanted));
  const found = find();
  if (!found)
    throw new Failure(`${name} was brought into .tools but does not run: remove the folder .tools and run it again.`);
  return found;
}

/**
 * The command has a channel to us that closes when we end, however that happens, and gets the signals that we get.
 * @param {string} node @param {string} script @param {string[]} args @returns {Promise<number>}
 */
function handOver(node, script, args) {
  const child = spawn(node, [script, ...args], {
    cwd: root,
    // Compiled code is kept, which saves a third of the start of each process that loads our sources.
    env: { NODE_COMPILE_CACHE: compiledFolder, ...process.env },
    stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
  });
  for (const signal of /** @type {const} */ (['SIGINT', 'SIGTERM', 'SIGHUP']))
    process.on(signal, () => child.kill(signal));
  const watch = watchParent(() => child.kill('SIGTERM'));
  return new Promise((done, failed) => {
    child.on('error', failed);
    child.on('exit', (code) => {
      clearInterval(watch);
      done(code ?? 1);
    });
  });
}

// npm starts us through a shell, which may die of a signal without passing it on. A new parent process shows that it
// died.
/** @param {() => void} onGone */
function watchParent(onGone) {
  const parent = process.ppid;
  if (!process.env.npm_lifecycle_event || process.platform === 'win32') return undefined;
  const timer = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(timer);
    onGone();
  }, 500);
  return timer;
}
