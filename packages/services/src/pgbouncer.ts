import { execFileSync } from 'node:child_process';
import { chownSync, existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { queryOnce } from './databases.ts';
import { freePort } from './free-port.ts';
import { findPgbouncer } from './pgbouncer-program.ts';
import type { ProcessGroup, RunningProcess } from './process-group.ts';
import type { Program } from './program.ts';
import { serverFailure } from './server-failure.ts';
import { UNPRIVILEGED_UID } from './server-user.ts';
import { endStraysIn } from './strays.ts';

// A real PgBouncer in transaction mode in front of a Postgres: many client connections share few server connections.

export interface Pooler {
  port: number;
  version: string;
  process: RunningProcess;
  /** The URL of the same database and role, through the pooler. */
  through(url: string): string;
  /** The address for its own figures, such as `show pools`. */
  adminUrl: string;
}

export interface PoolerOptions {
  group: ProcessGroup;
  /** The Postgres behind it. */
  serverUrl: string;
  /** Roles that may log in through it, each with the password of `serverUrl`. */
  roles: readonly string[];
  /** Connections to Postgres for each database and role. */
  poolSize?: number;
  stage: number;
  /** The environment in which to look for a PgBouncer. */
  env?: NodeJS.ProcessEnv;
  /** Where a fetched copy is kept. */
  tools?: string;
  ports?: () => Promise<number>;
}

const ADMIN = 'pooler_admin';
const START_MS = 30_000;
/** Clients set these for a session, but server connections are shared: the settings of the roles apply instead. */
export const IGNORED_AT_START = ['statement_timeout', 'lock_timeout', 'idle_in_transaction_session_timeout'] as const;

export async function startPgbouncer(options: PoolerOptions): Promise<Pooler> {
  const folder = join(options.group.folder, 'pgbouncer');
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const program = await findPgbouncer(options.env ?? process.env, options.tools);
  if (existsSync(folder)) await endStraysIn(folder, 'pgbouncer', 'SIGQUIT');
  const port = await (options.ports ?? freePort)();
  const { password } = new URL(options.serverUrl);
  writeSettings(folder, port, options);
  const running = run(program, folder, options);
  const through = (url: string): string => {
    const pooled = new URL(url);
    pooled.host = `127.0.0.1:${port}`;
    return pooled.href;
  };
  const adminUrl = `postgres://${ADMIN}:${password}@127.0.0.1:${port}/pgbouncer`;
  if (!(await untilReady(adminUrl, running))) throw serverFailure('PgBouncer', folder, running);
  return { port, version: program.version, process: running, through, adminUrl };
}

/** PgBouncer reads these files by name in its working folder, which must belong to the user that it switches to. */
function writeSettings(folder: string, port: number, { serverUrl, roles, poolSize = 20 }: PoolerOptions): void {
  const { hostname, port: serverPort, password } = new URL(serverUrl);
  const settings = {
    listen_addr: '127.0.0.1',
    listen_port: port,
    unix_socket_dir: '',
    auth_type: 'scram-sha-256',
    auth_file: 'users.txt',
    admin_users: ADMIN,
    ...(isRoot() && { user: nameOfUser(UNPRIVILEGED_UID) }),
    pool_mode: 'transaction',
    max_client_conn: 2_000,
    default_pool_size: poolSize,
    max_prepared_statements: 200,
    query_wait_timeout: 10,
    // Try a failed server again after 1 s.
    server_login_retry: 1,
    ignore_startup_parameters: IGNORED_AT_START.join(','),
    log_connections: 0,
    log_disconnections: 0,
  };
  const lines = Object.entries(settings).map(([name, value]) => `${name} = ${value}`);
  const ini = ['[databases]', `* = host=${hostname} port=${serverPort}`, '[pgbouncer]', ...lines];
  const files = {
    'pgbouncer.ini': ini,
    'users.txt': [ADMIN, ...roles].map((role) => `"${role}" "${decodeURIComponent(password)}"`),
  };
  for (const [name, text] of Object.entries(files)) {
    writeFileSync(join(folder, name), `${text.join('\n')}\n`, { mode: 0o600 });
    if (isRoot()) chownSync(join(folder, name), UNPRIVILEGED_UID, UNPRIVILEGED_UID);
  }
  if (isRoot()) chownSync(folder, UNPRIVILEGED_UID, UNPRIVILEGED_UID);
}

const isRoot = (): boolean => process.getuid?.() === 0;

const nameOfUser = (uid: number): string => execFileSync('id', ['-nu', String(uid)], { encoding: 'utf8' }).trim();

const run = ({ file, args, env }: Program, cwd: string, { group, stage }: PoolerOptions): RunningProcess =>
  group.start({
    name: 'pgbouncer',
    file,
    args: [...args, 'pgbouncer.ini'],
    env: { LC_ALL: 'C', ...env },
    cwd,
    stage,
    // Do not wait for clients: they have ended by then.
    signal: 'SIGQUIT',
    grace_ms: 1_000,
  });

async function untilReady(adminUrl: string, running: RunningProcess): Promise<boolean> {
  const until = performance.now() + START_MS;
  while (!running.hasEnded && performance.now() < until) {
    const answered = queryOnce(adminUrl, 'show version').then(
      () => true,
      () => false,
    );
    if (await Promise.race([answered, running.ended.then(() => false)])) return true;
    await delay(30);
  }
  return false;
}
