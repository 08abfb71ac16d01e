import { cpSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { Failure } from '@eloquentpoll/launch/failure';
import { root } from '@eloquentpoll/launch/folders';
import { runProgram } from '@eloquentpoll/services/run-program';

// A release as it is shipped: bundled programs, client and API description, in a folder that needs no packages.

export interface Release {
  /** Its revision, or `this`. */
  readonly name: string;
  readonly gateway: string;
  readonly worker: string;
  readonly migrate: string;
  readonly openAccount: string;
  readonly client: string;
  readonly description: string;
}

const BUNDLE_MS = 300_000;
const PROGRAM_MS = 600_000;

export const releaseIn = (folder: string, name: string): Release => ({
  name,
  gateway: join(folder, 'gateway/main.js'),
  worker: join(folder, 'worker/main.js'),
  migrate: join(folder, 'operator/migrate.js'),
  openAccount: join(folder, 'operator/open-account.js'),
  client: join(folder, 'eloquentpoll.ts'),
  description: join(folder, 'openapi.json'),
});

/** Bundles a checkout whose packages are installed. */
export async function bundleInto(folder: string, checkout: string): Promise<void> {
  const bundle = [join(checkout, 'scripts/bundle.ts'), '--into', folder];
  const { ok, output } = await runProgram(process.execPath, bundle, { cwd: checkout, env: process.env }, BUNDLE_MS);
  if (!ok) throw new Failure(`${checkout} could not be bundled.`, output.split('\n'));
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}\n');
  for (const file of ['packages/client/src/eloquentpoll.ts', 'docs/api/openapi.json'])
    cpSync(join(checkout, file), join(folder, basename(file)));
}

/** Bundles this checkout into the folder. */
export async function presentRelease(folder: string): Promise<Release> {
  await bundleInto(folder, root);
  return releaseIn(folder, 'this');
}

/** Runs one of the operator's programs; returns the last JSON line that it printed. */
export async function runOperator(
  file: string,
  args: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<string> {
  const { ok, output } = await runProgram(process.execPath, [file, ...args], { env: { ...env } }, PROGRAM_MS);
  if (!ok) throw new Failure(`${basename(file)} of a release failed: ${output.trim()}`);
  return output.split('\n').findLast((line) => line.startsWith('{')) ?? '{}';
}
