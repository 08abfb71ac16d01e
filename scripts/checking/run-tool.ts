import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { root } from '@eloquentpoll/launch/folders';
import { readJson } from '@eloquentpoll/services/json';
import { type ProgramOutcome, runProgram } from '@eloquentpoll/services/run-program';
import { Type } from '@sinclair/typebox';

const Manifest = Type.Object({ bin: Type.Union([Type.String(), Type.Record(Type.String(), Type.String())]) });
const LIMIT_MS = 5 * 60_000;

/** Runs a program of an installed package by its file path, so that neither PATH nor a shell affects it. */
export async function runTool(packageName: string, program: string, ...args: string[]): Promise<ProgramOutcome> {
  const folder = join(root, 'node_modules', packageName);
  const { bin } = readJson(Manifest, readFileSync(join(folder, 'package.json'), 'utf8'));
  const file = typeof bin === 'string' ? bin : bin[program];
  if (file === undefined) throw new Error(`${packageName} has no program ${program}`);
  const { CI: _ci, NODE_OPTIONS: _options, ...env } = process.env;
  const path = `${dirname(process.execPath)}:${env.PATH ?? ''}`;
  const options = { cwd: root, env: { ...env, PATH: path, NO_COLOR: '1', FORCE_COLOR: undefined } };
  return runProgram(process.execPath, [join(folder, file), ...args], options, LIMIT_MS);
}
