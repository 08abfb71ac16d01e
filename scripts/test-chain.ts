import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { root, toolEnvironment } from '@eloquentpoll/launch/folders';
import { findPnpm, nodeFirst } from '@eloquentpoll/launch/tools';

// Tests deposits on a real chain. The suite has hundreds of packages of its own, which other commands should not
// install.

const FOLDER = 'apps/gateway/test-chain';
const node = process.execPath;
const pnpm = findPnpm(node);
if (!pnpm) {
  process.stderr.write('pnpm 11 is not here: remove the folders .tools and node_modules and run it again.\n');
  process.exit(1);
}
const env = nodeFirst(toolEnvironment(), node);
const install = ['--dir', join(root, FOLDER), 'install', '--frozen-lockfile', '--reporter=silent'];
run(pnpm[0], [...pnpm.slice(1), ...install]);
run(node, [join(root, 'scripts/test.ts'), `${FOLDER}/deposit.test.ts`]);

function run(file: string, args: readonly string[]): void {
  const { status, error } = spawnSync(file, args, { cwd: root, env, stdio: 'inherit' });
  if (error) process.stderr.write(`${file} could not be run: ${error.message}\n`);
  if (status !== 0) process.exit(status ?? 1);
}
