import { APP_ROLES, type MigrationProgress, migrate } from '@eloquentpoll/storage';

// Migrates the database to the schema of this image. It runs before the processes of a release start; those of the
// previous release keep working on the newer schema. It connects as the role that owns the tables, the apps as other
// roles; if one role does everything, DATABASE_URL is enough. Standard output has what was applied, in one line; standard
// error has what it does or waits for.

const url = process.env.MIGRATE_DATABASE_URL || process.env.DATABASE_URL;
if (!url) {
  console.error('MIGRATE_DATABASE_URL is not set: give it a value such as postgres://user:password@host:5432/name');
  process.exit(2);
}
try {
  const applied = await migrate(url, { say, ...(process.env.MIGRATE_DATABASE_URL && { roles: APP_ROLES }) });
  console.log(JSON.stringify({ msg: 'migrated', applied }));
} catch (error) {
  console.error(`the schema could not be brought up to date: ${error instanceof Error ? error.message : error}`);
  process.exitCode = 1;
}

function say(progress: MigrationProgress): void {
  const { kind, ...what } = progress;
  const line =
    progress.kind === 'waiting' ? { msg: 'another session migrates', ...progress.holder } : { msg: kind, ...what };
  console.error(JSON.stringify(line));
}
