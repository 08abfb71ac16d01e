import { globSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';

const SOURCE = 'apps/gateway/src';
const IMPORT = /from '(\.[^']+)'/g;

/** Finds imports of the gateway's top-level files by its folders. biome.json checks imports between folders. */
export function upwardImports(root: string): string[] {
  const files = globSync(`${SOURCE}/*/**/*.ts`, { cwd: root });
  return files.flatMap((file) =>
    [...readFileSync(join(root, file), 'utf8').matchAll(IMPORT)]
      .map(([, path]) => normalize(join(dirname(file), path!)))
      .filter((target) => dirname(target) === SOURCE)
      .map((target) => `${file} imports ${target}, which composes the folders: pass what it needs as an argument`),
  );
}
