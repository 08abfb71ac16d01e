import { chmodSync, existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { toolsFolder } from '@eloquentpoll/launch/folders';
import { fetchFromRelease } from './from-apt.ts';
import { runProgram } from './run-program.ts';

// Finds psql, pg_dump and pg_restore of the server's version: on the PATH, or fetched from a newer Debian together with
// the C library for which they were built.

const PROGRAMS = ['psql', 'pg_dump', 'pg_restore'] as const;
const RELEASE = 'forky';
const packagesOf = (major: number): string[] => [
  ...[`postgresql-client-${major}`, 'libpq5', 'libc6', 'libssl3t64', 'libzstd1', 'zlib1g', 'liblz4-1', 'libtinfo6'],
  ...['libreadline8t64', 'libgssapi-krb5-2', 'libkrb5-3', 'libk5crypto3', 'libcom-err2', 'libkrb5support0'],
  ...['libkeyutils1', 'libldap2', 'libsasl2-2', 'libgcc-s1'],
];

/** A PATH with these programs, or null. */
export async function pathWithClient(
  major: number,
  env: NodeJS.ProcessEnv,
  tools: string = toolsFolder,
): Promise<string | null> {
  const path = env.PATH ?? '';
  if (await isOf(major, path)) return path;
  const kept = join(tools, `postgres-client-${major}`);
  const own = `${join(kept, 'bin')}:${path}`;
  if (await isOf(major, own)) return own;
  if (!(await fetchFromRelease(kept, RELEASE, packagesOf(major), env))) return null;
  writeStarters(kept, major);
  return (await isOf(major, own)) ? own : null;
}

async function isOf(major: number, path: string): Promise<boolean> {
  const { output } = await runProgram('pg_dump', ['--version'], { env: { PATH: path } }, 10_000);
  return Number(/\(PostgreSQL\) (\d+)/.exec(output)?.[1] ?? 0) >= major;
}

/** Start scripts that use the fetched C library, because this machine's own may be too old. */
function writeStarters(kept: string, major: number): void {
  const [machine, loader] = process.arch === 'arm64' ? ['aarch64', 'ld-linux-aarch64.so.1'] : ['x86_64', LOADER];
  const libraries = join(kept, `usr/lib/${machine}-linux-gnu`);
  mkdirSync(join(kept, 'bin'), { recursive: true });
  for (const name of PROGRAMS) {
    const program = join(kept, `usr/lib/postgresql/${major}/bin`, name);
    if (!existsSync(program)) continue;
    const starter = join(kept, 'bin', name);
    writeFileSync(
      starter,
      `#!/bin/sh\nexec '${join(libraries, loader)}' --library-path '${libraries}' '${program}' "$@"\n`,
    );
    chmodSync(starter, 0o755);
  }
}

const LOADER = 'ld-linux-x86-64.so.2';
