import { mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { asRole, createDatabase, createRole, queryOnce } from '@eloquentpoll/services/databases';
import { pathWithClient } from '@eloquentpoll/services/postgres-client';
import { runProgram } from '@eloquentpoll/services/run-program';
import { GATEWAY_ROLE, migrate, openStorage, StorageRefused } from '@eloquentpoll/storage';
import type { Stores } from '../fixture/stores.ts';
import { wholeLedgerViolations } from '../fixture/whole-ledger.ts';

// The documented commands of infra/backup, under the conditions of infra/postgres: the superuser has installed an
// extension, the role that restores owns a database but is no superuser, and the server ends its statements early.
// After the restore: the migration, which grants privileges to the apps' roles, and a check of the whole ledger in the
// gateways' role.

export interface BackedUp {
  readonly dumpS: number;
  readonly restoreS: number;
  readonly bytes: number;
  /** What restore.sh prints when the books balance. */
  readonly said: string;
  /** By the gateways' role before the migration. Should be false, because no privileges are restored. */
  readonly isReadableBefore: boolean;
  /** The rules that the whole ledger violates, after the migration. */
  readonly violated: readonly string[];
}

const HOUR_MS = 3_600_000;
const PERMISSION_DENIED = '42501';
const RESTORER = 'eloquentpoll_restorer';
const script = (name: string): string => new URL(`../../../../infra/backup/${name}`, import.meta.url).pathname;

/** Returns a sentence instead if the machine has no pg_dump of the server's version. */
export async function backUpAndRestore({
  databaseUrl,
  query,
}: Pick<Stores, 'databaseUrl' | 'query'>): Promise<BackedUp | string> {
  const [server] = await query<{ major: number }>(
    "select current_setting('server_version_num')::integer / 10000 as major",
  );
  const path = await pathWithClient(server!.major, process.env);
  if (path === null) return `not tried: there is no pg_dump ${server!.major} here, and none could be fetched`;
  await query('create extension if not exists pg_stat_statements');
  await createRole(databaseUrl, RESTORER);
  await queryOnce(databaseUrl, `alter role ${RESTORER} set statement_timeout = '1ms'`);
  const folder = await mkdtemp(join(tmpdir(), 'ep-backup-'));
  try {
    const env = { ...process.env, PATH: path, DATABASE_URL: databaseUrl };
    const dumpMs = await timed(() => mustRun(script('dump.sh'), [folder], env));
    const [file = ''] = await readdir(folder);
    await using scratch = await createDatabase(databaseUrl, { prefix: 'ep_restored', owner: RESTORER });
    let said = '';
    const restoreMs = await timed(async () => {
      const restoring = { ...env, DATABASE_URL: asRole(scratch.url, RESTORER) };
      said = await mustRun(script('restore.sh'), [join(folder, file)], restoring);
    });
    const isReadableBefore = (await checkAsGateway(scratch.url).catch(refused)) !== null;
    await queryOnce(databaseUrl, `alter role ${RESTORER} reset statement_timeout`);
    await migrate(asRole(scratch.url, RESTORER));
    const violated = await checkAsGateway(scratch.url);
    const { size } = await stat(join(folder, file));
    const took = { dumpS: Math.round(dumpMs / 1_000), restoreS: Math.round(restoreMs / 1_000) };
    return { ...took, bytes: size, said, isReadableBefore, violated };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** As `check-ledger.js --full` does. */
async function checkAsGateway(url: string): Promise<string[]> {
  await using storage = openStorage({
    databaseUrl: asRole(url, GATEWAY_ROLE),
    maxConnections: 1,
    statementTimeoutMs: 120_000,
  });
  return [...new Set((await wholeLedgerViolations(storage)).map(({ rule }) => rule))];
}

function refused(error: unknown): null {
  if (error instanceof StorageRefused && error.code === PERMISSION_DENIED) return null;
  throw error;
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const began = performance.now();
  await work();
  return performance.now() - began;
}

async function mustRun(program: string, args: string[], env: NodeJS.ProcessEnv): Promise<string> {
  const { ok, output } = await runProgram('sh', [program, ...args], { env }, HOUR_MS);
  if (!ok) throw new Error(`${program} failed: ${output}`);
  return output.trim();
}
