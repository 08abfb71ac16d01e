import { copyFileSync, mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';

// Copies the data folder of a running Postgres to start a standby. The base backup uses the server's own functions and
// copies the files itself, because the package of embedded Postgres has no pg_basebackup. Changes during the copy are
// in the log, which the standby reads from the primary.

/** Log to keep for the time of the copy, and for a standby that is away for a while. */
export const KEPT_LOG = { wal_keep_size: '512MB' } as const;

/**
 * The settings that a server needs so that standbys can follow it. Embedded servers with durable data have the others.
 */
export const FOLLOWED = { ...KEPT_LOG, wal_level: 'replica', max_wal_senders: 8 } as const;

/** Folders that each server creates anew or reads from the primary. */
const EMPTY = new Set([
  'pg_wal',
  'pg_replslot',
  'pg_dynshmem',
  'pg_notify',
  'pg_serial',
  'pg_snapshots',
  'pg_stat_tmp',
]);
const LEFT_OUT = new Set(['postmaster.pid', 'postmaster.opts', 'standby.signal', 'backup_label']);
const BACKUP_MS = 60_000;

export async function copyRunning(primary: { url: string; folder: string }, folder: string): Promise<void> {
  const aside = `${folder}.new`;
  rmSync(aside, { recursive: true, force: true });
  // The same connection must start and end the backup.
  const client = new pg.Client({ connectionString: primary.url, query_timeout: BACKUP_MS });
  await client.connect();
  try {
    await client.query("select pg_backup_start('a standby', true)");
    copyFolder(primary.folder, aside);
    const { rows } = await client.query<{ labelfile: string }>('select labelfile from pg_backup_stop(false)');
    writeFileSync(join(aside, 'backup_label'), rows[0]!.labelfile);
    writeFileSync(join(aside, 'standby.signal'), '');
    renameSync(aside, folder);
  } finally {
    await client.end();
    rmSync(aside, { recursive: true, force: true });
  }
}

function copyFolder(from: string, to: string): void {
  mkdirSync(to, { mode: 0o700 });
  for (const entry of readdirSync(from, { withFileTypes: true })) {
    const { name } = entry;
    if (LEFT_OUT.has(name) || name.startsWith('pgsql_tmp')) continue;
    if (EMPTY.has(name)) mkdirSync(join(to, name), { mode: 0o700 });
    else if (entry.isDirectory()) copyFolder(join(from, name), join(to, name));
    else copyFile(join(from, name), join(to, name));
  }
}

/** A file that has disappeared belongs to a table that was dropped meanwhile; the log records that too. */
function copyFile(from: string, to: string): void {
  try {
    copyFileSync(from, to);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT')) throw error;
  }
}

/**
 * How a standby finds its primary: the value of `primary_conninfo`, and the environment that has the password, because
 * other users can read a command line.
 */
export function connectionTo(url: string): { primary_conninfo: string; env: { PGPASSWORD: string } } {
  const { hostname, port, username, password } = new URL(url);
  return {
    primary_conninfo: `host=${hostname} port=${port} user=${username} application_name=standby`,
    env: { PGPASSWORD: decodeURIComponent(password) },
  };
}
