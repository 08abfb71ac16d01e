import { chmodSync, copyFileSync, cpSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { root } from '@eloquentpoll/launch/folders';
import { runProgram } from '@eloquentpoll/services/run-program';

// Builds the root file system of an image as the Dockerfile does: Node, the libraries that it loads, one bundle, and
// nothing else.

export async function makeImageRoot(folder: string, bundles: string): Promise<void> {
  // A container engine creates mount points such as /heap itself.
  for (const name of ['usr/bin', 'app', 'proc', 'dev', 'tmp', 'etc', 'run/secrets', 'heap'])
    mkdirSync(join(folder, name), { recursive: true });
  copyFileSync(process.execPath, join(folder, 'usr/bin/node'));
  chmodSync(join(folder, 'usr/bin/node'), 0o755);
  const { ok, output } = await runProgram('ldd', [process.execPath], {}, 10_000);
  if (!ok) throw new Error(`the libraries of Node cannot be listed: ${output}`);
  for (const [library] of output.matchAll(/\/[^ ]+\.so[^ ]*/g)) {
    mkdirSync(join(folder, dirname(library)), { recursive: true });
    copyFileSync(library, join(folder, library));
  }
  cpSync(bundles, join(folder, 'app'), { recursive: true });
  const files = join(root, 'infra/image');
  for (const name of readdirSync(files).filter((name) => name.endsWith('.mjs')))
    copyFileSync(join(files, name), join(folder, 'app', name));
  copyFileSync(join(root, 'scripts/hardening/probe.mjs'), join(folder, 'app/probe.mjs'));
  writeFileSync(join(folder, 'app/package.json'), '{"type":"module"}');
  writeFileSync(join(folder, 'etc/nsswitch.conf'), 'hosts: files dns\n');
}
