import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { requireEnv } from '@eloquentpoll/testkit/require-env';
import pg from 'pg';
import t from 'tap';
import { bundleOperator } from '../bundling/bundle-operator.ts';

// The image that prepares a release holds the bundle and nothing else: the SQL that it loads must lie beside it.

t.test('the bundled migrate brings an empty database to the schema from its own folder', async (t) => {
  const folder = await bundleOperator(t.testdir());
  const admin = new pg.Client({ connectionString: requireEnv('TEST_DATABASE_URL') });
  await admin.connect();
  const name = `t_bundled_${process.pid}`;
  await admin.query(`create database ${name}`);
  t.teardown(async () => {
    await admin.query(`drop database ${name} with (force)`);
    await admin.end();
  });
  const url = new URL(requireEnv('TEST_DATABASE_URL'));
  url.pathname = `/${name}`;
  const program = [join(folder, 'migrate.js')];
  const run = () => promisify(execFile)(process.execPath, program, { env: { DATABASE_URL: url.href } });
  const { stdout, stderr } = await run();
  t.match(JSON.parse(stdout), { msg: 'migrated', applied: ['0001-accounts'] });
  t.match(stderr, /^{"msg":"applying","step":"0001-accounts"}$/m);
  t.match(JSON.parse((await run()).stdout), { msg: 'migrated', applied: { length: 0 } }, 'and again: nothing to do');
  const client = new pg.Client({ connectionString: url.href });
  await client.connect();
  t.same((await client.query('select * from check_ledger()')).rows, []);
  await client.end();
});
