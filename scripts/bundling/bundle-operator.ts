import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '@eloquentpoll/launch/folders';
import { build } from 'esbuild';
import { BANNER, filesBeside, OPTIONAL } from './bundle-apps.ts';

// Bundles the operator's commands into one folder, `dist/operator`, for the operator image.

const PROGRAMS = ['migrate', 'make-secrets', 'open-account', 'console', 'check-ledger', 'track-records', 'cells'];

export async function bundleOperator(into: string): Promise<string> {
  const folder = join(into, 'operator');
  rmSync(folder, { recursive: true, force: true });
  await build({
    absWorkingDir: root,
    entryPoints: PROGRAMS.map((name) => join(root, 'scripts/operator', `${name}.ts`)),
    outdir: folder,
    bundle: true,
    splitting: true,
    platform: 'node',
    target: 'node24',
    format: 'esm',
    mainFields: ['module', 'main'],
    minifySyntax: true,
    minifyWhitespace: true,
    banner: { js: BANNER },
    external: OPTIONAL,
    plugins: [filesBeside(folder)],
    logLevel: 'warning',
  });
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}\n');
  return folder;
}
