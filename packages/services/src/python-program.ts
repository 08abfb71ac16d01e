import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { Failure } from '@eloquentpoll/launch/failure';
import { toolsFolder } from '@eloquentpoll/launch/folders';
import { fetchWithApt } from './from-apt.ts';
import { runProgram } from './run-program.ts';

// Finds a Python that can run the Python client: one on the PATH, the copy of an earlier run, or one fetched from the
// system's package archive without installing it.

export interface PythonProgram {
  file: string;
  /** Environment variables that it needs. */
  env: NodeJS.ProcessEnv;
}

const OLDEST_MINOR = 10;
const SYSTEM_FOLDERS = ['/usr/local/bin', '/usr/bin'];
const IN_ARCHIVES = [14, 13, 12, 11, 10];
/** All packages by name, because apt would leave out those that this machine already has in part. */
const PACKAGES = IN_ARCHIVES.map((minor) => [
  `python3.${minor}-minimal`,
  `libpython3.${minor}-minimal`,
  `libpython3.${minor}-stdlib`,
]);
const PROBE = 'import sys, ssl, asyncio, json; print(sys.version_info[0], sys.version_info[1])';

export async function findPython(env: NodeJS.ProcessEnv, tools: string = toolsFolder): Promise<PythonProgram> {
  const kept = join(tools, 'python');
  return (
    (await onPath(env)) ??
    (await keptCopy(kept)) ??
    ((await fetchWithApt(kept, PACKAGES, env)) ? await keptCopy(kept) : null) ??
    refuse()
  );
}

async function onPath(env: NodeJS.ProcessEnv): Promise<PythonProgram | null> {
  for (const folder of [...(env.PATH ?? '').split(delimiter), ...SYSTEM_FOLDERS].filter(Boolean)) {
    const program = await usable(join(folder, 'python3'), { PATH: env.PATH });
    if (program) return program;
  }
  return null;
}

async function keptCopy(folder: string): Promise<PythonProgram | null> {
  const triplet = `${process.arch === 'arm64' ? 'aarch64' : 'x86_64'}-linux-gnu`;
  const libraries = ['usr/lib', 'lib'].map((lib) => join(folder, lib, triplet));
  for (const minor of IN_ARCHIVES) {
    const env = { LD_LIBRARY_PATH: libraries.join(delimiter) };
    const program = await usable(join(folder, `usr/bin/python3.${minor}`), env);
    if (program) return program;
  }
  return null;
}

/** Checks for the modules that the client imports: some systems split the standard library. */
async function usable(file: string, env: NodeJS.ProcessEnv): Promise<PythonProgram | null> {
  if (!existsSync(file)) return null;
  const { output } = await runProgram(file, ['-c', PROBE], { env }, 10_000);
  const version = /^3 (\d+)\s*$/.exec(output);
  return version && Number(version[1]) >= OLDEST_MINOR ? { file, env } : null;
}

function refuse(): never {
  throw new Failure('There is no Python here and none could be fetched: install Python 3.10 or newer.');
}
