import { spawn, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Failure, report } from '@eloquentpoll/launch/failure';
import { dataFolder } from '@eloquentpoll/launch/folders';
import { readJson } from '@eloquentpoll/services/json';
import { primaryUrl } from '@eloquentpoll/storage';
import { Type } from '@sinclair/typebox';
import { runShell } from './db/shell.ts';
import { Secrets } from './start/secrets.ts';

// `npm run db [-- "select ..."]`: a shell on the database of `npm run dev` or `npm start`, or on DATABASE_URL. It uses
// psql if installed, otherwise a small shell of our own.

async function main(statements: readonly string[]): Promise<number> {
  // Of several servers the primary.
  const url = await primaryUrl(databaseUrl());
  if (process.env.DB_SHELL !== 'own' && spawnSync('psql', ['--version']).status === 0) return psql(url, statements);
  return runShell({ url, statements, input: process.stdin, output: process.stdout });
}

function databaseUrl(): string {
  if (process.env.DATABASE_URL) return process.env.DATABASE_URL;
  try {
    const { databaseUrl } = readJson(
      Type.Pick(Secrets, ['databaseUrl']),
      readFileSync(join(dataFolder, 'secrets.json'), 'utf8'),
    );
    if (databaseUrl) return databaseUrl;
  } catch {
    // The product was never started here.
  }
  throw new Failure('No database was started here: run `npm run dev` in another terminal, or set DATABASE_URL.');
}

/** The password is passed in the environment, because other users can read a command line. */
function psql(address: string, statements: readonly string[]): Promise<number> {
  const url = new URL(address);
  const PGPASSWORD = decodeURIComponent(url.password);
  url.password = '';
  const commands = statements.flatMap((statement) => ['--command', statement]);
  const env = { ...process.env, ...(PGPASSWORD && { PGPASSWORD }) };
  const child = spawn('psql', ['--dbname', url.href, ...commands], { stdio: 'inherit', env });
  // psql handles Ctrl-C itself: it cancels the statement.
  process.on('SIGINT', () => {});
  return new Promise((resolve) => child.on('close', (code) => resolve(code ?? 1)));
}

try {
  process.exitCode = await main(process.argv.slice(2).filter((arg) => arg !== '--'));
} catch (error) {
  report(error);
  process.exitCode = 1;
}
