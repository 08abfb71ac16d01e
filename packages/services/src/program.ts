import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { runProgram } from './run-program.ts';

// A program of the system, either installed or in a folder into which its packages were unpacked.

export interface Program {
  version: string;
  file: string;
  /** Arguments that come before those of the program. */
  args: string[];
  env: NodeJS.ProcessEnv;
}

export interface WantedProgram {
  /** Alternatives, any of which is suitable. */
  names: readonly string[];
  /** The option that prints the version. */
  versionFlag: string;
  /** null if the version is too old, or the program is something else. */
  readVersion(output: string): string | null;
}

/** Folders where servers are installed, which a user's PATH often lacks. */
const SYSTEM_FOLDERS = ['/usr/local/sbin', '/usr/sbin'];
const PROBE_MS = 10_000;

export function installedProgram(wanted: WantedProgram, env: NodeJS.ProcessEnv): Promise<Program | null> {
  const folders = [...(env.PATH ?? '').split(delimiter).filter(Boolean), ...SYSTEM_FOLDERS];
  return firstUsable(wanted, folders, [], { PATH: env.PATH });
}

/** Runs with the libraries of its packages, and with their loader if the C library is among them. */
export function unpackedProgram(wanted: WantedProgram, folder: string): Promise<Program | null> {
  const [triplet, loader] =
    process.arch === 'arm64'
      ? ['aarch64-linux-gnu', 'ld-linux-aarch64.so.1']
      : ['x86_64-linux-gnu', 'ld-linux-x86-64.so.2'];
  const libraries = ['usr/lib', 'lib'].flatMap((lib) => [join(folder, lib, triplet), join(folder, lib)]).join(':');
  const ownLoader = join(folder, 'usr/lib', triplet, loader);
  const folders = ['usr/sbin', 'usr/bin'].map((name) => join(folder, name));
  return existsSync(ownLoader)
    ? firstUsable(wanted, folders, [ownLoader, '--library-path', libraries], {})
    : firstUsable(wanted, folders, [], { LD_LIBRARY_PATH: libraries });
}

async function firstUsable(
  { names, versionFlag, readVersion }: WantedProgram,
  folders: readonly string[],
  loader: readonly string[],
  env: NodeJS.ProcessEnv,
): Promise<Program | null> {
  for (const path of folders.flatMap((folder) => names.map((name) => join(folder, name)))) {
    if (!existsSync(path)) continue;
    const [file = path, ...args] = [...loader, path];
    const { output } = await runProgram(file, [...args, versionFlag], { env }, PROBE_MS);
    const version = readVersion(output);
    if (version) return { version, file, args, env };
  }
  return null;
}
