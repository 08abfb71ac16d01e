import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { requireSpace, toolEnvironment, toolsFolder } from '@eloquentpoll/launch/folders';
import { npmCommand } from '@eloquentpoll/launch/npm';
import { runTool } from '@eloquentpoll/launch/run-tool';

// Installs the gateway that we compare ours with from npm, in a folder of its own: nothing of ours depends on it. npm
// chooses the versions of its dependencies.

const PACKAGE = '@portkey-ai/gateway';
const VERSION = '1.15.2';

/** Returns the path of the module that starts it. */
export async function bringPeer(): Promise<string> {
  const kept = join(toolsFolder, `peer-${VERSION}`);
  const module = join(kept, 'node_modules', PACKAGE, 'build/start-server.js');
  if (existsSync(module)) return module;
  const work = `${kept}.${process.pid}.new`;
  mkdirSync(work, { recursive: true });
  try {
    requireSpace(work, 100, `${PACKAGE} ${VERSION}`);
    writeFileSync(join(work, 'package.json'), JSON.stringify({ private: true, dependencies: { [PACKAGE]: VERSION } }));
    const [npm, ...first] = npmCommand();
    const args = [...first, 'install', '--prefix', work, '--ignore-scripts', '--no-audit', '--no-fund', '--yes'];
    const sentence = `npm could not bring ${PACKAGE} ${VERSION}, the peer to measure against.`;
    await runTool('peer', npm, args, { cwd: work, env: toolEnvironment(), sentence });
    rmSync(kept, { recursive: true, force: true });
    renameSync(work, kept);
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
  return module;
}
