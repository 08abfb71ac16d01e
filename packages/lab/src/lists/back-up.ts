import { mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { asRole, createDatabase, createRole, queryOnce } from '@eloquentpoll/services/databases';
import { pathWithClient } from '@eloquentpoll/services/postgres-client';
import { runProgram } from '@eloquentpoll/services/run-program';
import type { Stores } from '../fixture/stores.ts';

// The documented commands of infra/backup, as on a server of infra/postgres: its superuser has put an extension into the
// database, who restores owns a database and is no superuser, and the server ends its statements early.

export interface BackedUp {
  readonly dumpS: number;
  readonly restoreS: number;
  readonly bytes: number;
  /** What restore.sh says when the books balance. */
  readonly said: string;
}

const HOUR_MS = 3_600_000;
const RESTORER = 'eloquentpoll_restorer';
const script = (name: string): string => new URL(`../../../../infra/backup/${name}`, import.meta.url).pathname;

/** A sentence where the machine has no pg_dump of the server's version. */
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
    const { size } = await stat(join(folder, file));
    return { dumpS: Math.round(dumpMs / 1_000), restoreS: Math.round(restoreMs / 1_000), bytes: size, said };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
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
