import { dirname, join } from 'node:path';
import { root } from '@eloquentpoll/launch/folders';
import { type ProgramOutcome, runProgram } from '@eloquentpoll/services/run-program';

const LIMIT_MS = 5 * 60_000;

/** Runs a program of an installed package by its file, so that neither PATH nor a shell decides what runs. */
export async function runTool(packageName: string, program: string, ...args: string[]): Promise<ProgramOutcome> {
  const folder = join(root, 'node_modules', packageName);
  const { default: manifest } = await import(join(folder, 'package.json'), { with: { type: 'json' } });
  const file = typeof manifest.bin === 'string' ? manifest.bin : manifest.bin[program];
  const { CI: _ci, NODE_OPTIONS: _options, ...env } = process.env;
  const path = `${dirname(process.execPath)}:${env.PATH ?? ''}`;
  const options = { cwd: root, env: { ...env, PATH: path, NO_COLOR: '1', FORCE_COLOR: undefined } };
  return runProgram(process.execPath, [join(folder, file), ...args], options, LIMIT_MS);
}
