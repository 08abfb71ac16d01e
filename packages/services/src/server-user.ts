import { spawnSync } from 'node:child_process';
import { chmodSync, cpSync, lchownSync, mkdtempSync, readdirSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Failure } from '@eloquentpoll/launch/failure';

// Postgres refuses to run as root, so root runs it as an unprivileged user. The data folder is entered before the user
// changes. Programs that this user cannot read run in a user namespace that maps us to it, or from a readable copy.

/** A user id that owns nothing on any Unix. */
export const UNPRIVILEGED_UID = 65534;

export interface ServerUser {
  /** Folder of the programs, perhaps a copy. */
  programs: string;
  command(program: string, args: readonly string[]): { file: string; args: string[]; uid?: number; gid?: number };
  /** The path by which the program, running in its data folder, can refer to that folder. */
  dataArgument(folder: string): string;
  /** Gives a folder with its content to the server's user. */
  own(folder: string): void;
}

/** `temporary` is called with a folder that must be removed together with the server. */
export function serverUser(programs: string, temporary: (folder: string) => void): ServerUser {
  const direct: ServerUser = {
    programs,
    command: (program, args) => ({ file: join(programs, program), args: [...args] }),
    dataArgument: (folder) => folder,
    own: () => {},
  };
  if (process.getuid?.() !== 0) return works(direct) ?? refuse();

  const rooted = {
    ...direct,
    dataArgument: process.platform === 'linux' ? () => '/proc/self/cwd' : direct.dataArgument,
  };
  const unprivileged: ServerUser = {
    ...rooted,
    command: (program, args) => ({ ...direct.command(program, args), uid: UNPRIVILEGED_UID, gid: UNPRIVILEGED_UID }),
    own: (folder) => ownAll(folder, UNPRIVILEGED_UID),
  };
  const namespace: ServerUser = {
    ...rooted,
    command: (program, args) => ({
      file: 'unshare',
      args: [
        '--user',
        `--map-user=${UNPRIVILEGED_UID}`,
        `--map-group=${UNPRIVILEGED_UID}`,
        join(programs, program),
        ...args,
      ],
    }),
    own: (folder) => ownAll(folder, 0),
  };
  return works(unprivileged) ?? works(namespace) ?? works(copied(unprivileged, temporary)) ?? refuse();
}

/** The environment for a server: without our variables that could change its answers. */
export function serverEnvironment(): NodeJS.ProcessEnv {
  return { PATH: process.env.PATH ?? '', LC_ALL: 'C', TZ: 'UTC' };
}

function works(user: ServerUser): ServerUser | null {
  const { file, args, ...identity } = user.command('postgres', ['--version']);
  return spawnSync(file, args, { ...identity, cwd: '/', env: serverEnvironment(), timeout: 10_000 }).status === 0
    ? user
    : null;
}

function copied(user: ServerUser, temporary: (folder: string) => void): ServerUser {
  const folder = mkdtempSync(join(tmpdir(), 'eloquentpoll-postgres-'));
  temporary(folder);
  chmodSync(folder, 0o755);
  cpSync(join(user.programs, '..'), folder, { recursive: true, verbatimSymlinks: true });
  const programs = join(folder, 'bin');
  return {
    ...user,
    programs,
    command: (program, args) => ({ ...user.command(program, args), file: join(programs, program) }),
  };
}

function refuse(): never {
  throw new Failure('The embedded Postgres does not run on this machine: set DATABASE_URL to a Postgres of your own.');
}

function ownAll(folder: string, id: number): void {
  const { uid, gid } = statSync(folder);
  if (uid === id && gid === id) return;
  for (const entry of readdirSync(folder, { recursive: true, encoding: 'utf8' }))
    lchownSync(join(folder, entry), id, id);
  lchownSync(folder, id, id);
}
