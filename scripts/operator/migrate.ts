import { migrate } from '@eloquentpoll/storage';

// The one-shot that brings the database to the schema of this image. It runs before the processes of a release; those
// of the release before keep working on the newer schema meanwhile.

const url = process.env.DATABASE_URL;
if (!url) {
  console.error('DATABASE_URL is not set: give it a value such as postgres://user:password@host:5432/name');
  process.exit(2);
}
try {
  const applied = await migrate(url);
  console.log(JSON.stringify({ msg: 'migrated', applied }));
} catch (error) {
  console.error(`the schema could not be brought up to date: ${error instanceof Error ? error.message : error}`);
  process.exitCode = 1;
}
