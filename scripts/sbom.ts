import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { report } from '@eloquentpoll/launch/failure';
import { root } from '@eloquentpoll/launch/folders';
import { findPnpm } from '@eloquentpoll/launch/tools';
import { readJson } from '@eloquentpoll/services/json';
import { runProgram } from '@eloquentpoll/services/run-program';
import { Type } from '@sinclair/typebox';

// `npm run sbom`: lists the components of each image in CycloneDX format, with the hash of every package, in dist/sbom.
// It reads the lockfile and the installed packages and needs no network, so the same commit gives the same list.

const Bill = Type.Object({ components: Type.Array(Type.Unknown()) });
const LIMIT_MS = 60_000;

/** Returns the number of listed components. */
export async function writeSbom(app: string, file: string): Promise<number> {
  const [program, ...first] = findPnpm(process.execPath) ?? ['pnpm'];
  const args = [...first, 'sbom', '--prod', '--sbom-format=cyclonedx', '--sbom-spec-version=1.6'];
  const { ok, output } = await runProgram(
    program,
    [...args, `--filter=./apps/${app}`, `--out=${file}`],
    { cwd: root, env: process.env },
    LIMIT_MS,
  );
  if (!ok) throw new Error(`the contents of ${app} could not be listed: ${output.trim()}`);
  return readJson(Bill, readFileSync(file, 'utf8')).components.length;
}

if (import.meta.main) {
  try {
    const folder = join(root, 'dist/sbom');
    mkdirSync(folder, { recursive: true });
    for (const app of ['gateway', 'worker', 'simulator']) {
      const count = await writeSbom(app, join(folder, `${app}.cdx.json`));
      console.log(`dist/sbom/${app}.cdx.json  ${count} packages`);
    }
  } catch (error) {
    report(error);
    process.exitCode = 1;
  }
}
