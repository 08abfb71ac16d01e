import { join } from 'node:path';
import { Failure } from '@eloquentpoll/launch/failure';
import { toolsFolder } from '@eloquentpoll/launch/folders';
import { fetchFromRelease, fetchWithApt } from './from-apt.ts';
import { installedProgram, type Program, unpackedProgram } from './program.ts';

// Finds a PgBouncer that keeps prepared statements across transactions: an installed one, the copy of an earlier start,
// one fetched from the system's package archive, or one from the next Debian, with its own C library.

const OLDEST = [1, 21];
const RELEASE = 'trixie';
const PACKAGES = [
  ...['pgbouncer', 'libevent-2.1-7t64', 'libcares2', 'libpam0g', 'libaudit1', 'libcap-ng0', 'libssl3t64', 'libzstd1'],
  ...['zlib1g', 'libsystemd0', 'libcap2', 'libgcc-s1', 'libc6'],
];

const PGBOUNCER = {
  names: ['pgbouncer'],
  versionFlag: '--version',
  readVersion(output: string): string | null {
    const [, version, major, minor] = /PgBouncer ((\d+)\.(\d+)\S*)/.exec(output) ?? [];
    const isRecent = Number(major) * 1_000 + Number(minor) >= OLDEST[0]! * 1_000 + OLDEST[1]!;
    return version && isRecent ? version : null;
  },
};

export async function findPgbouncer(env: NodeJS.ProcessEnv, tools: string = toolsFolder): Promise<Program> {
  const kept = join(tools, 'pgbouncer');
  const keptCopy = () => unpackedProgram(PGBOUNCER, kept);
  return (
    (await installedProgram(PGBOUNCER, env)) ??
    (await keptCopy()) ??
    ((await fetchWithApt(kept, [['pgbouncer']], env)) ? await keptCopy() : null) ??
    ((await fetchFromRelease(kept, RELEASE, PACKAGES, env)) ? await keptCopy() : null) ??
    refuse()
  );
}

function refuse(): never {
  throw new Failure(
    'There is no PgBouncer here and none could be fetched: install pgbouncer 1.21 or newer, or leave the pooler out.',
  );
}
