import { randomBytes } from 'node:crypto';
import { requireEnv } from '@eloquentpoll/testkit/require-env';
import pg from 'pg';
import t, { type Test } from 'tap';
import { migrate, OtherSchema } from '../src/index.ts';

// slow: 3 s

async function emptyDatabase(t: Test) {
  const admin = new pg.Client({ connectionString: requireEnv('TEST_DATABASE_URL') });
  await admin.connect();
  const name = `t_${randomBytes(8).toString('hex')}`;
  await admin.query(`create database ${name}`);
  const url = new URL(requireEnv('TEST_DATABASE_URL'));
  url.pathname = `/${name}`;
  const client = new pg.Client({ connectionString: url.href });
  await client.connect();
  t.teardown(async () => {
    await client.end();
    await admin.query(`drop database ${name} with (force)`);
    await admin.end();
  });
  return { url: url.href, client };
}

t.test('many processes migrate an empty database at once; one does it, the others find it done', async (t) => {
  const { url, client } = await emptyDatabase(t);
  const applied = await Promise.all(Array.from({ length: 6 }, () => migrate(url)));
  const names = applied.flat();
  t.ok(names.length >= 5);
  t.equal(new Set(names).size, names.length, 'each step once');
  t.same(names, names.toSorted(), 'in order');
  t.same(await migrate(url), [], 'and again: nothing to do');
  const { rows } = await client.query('select name from schema_migrations order by name');
  t.same(
    rows.map(({ name }) => name),
    names,
  );
  t.same((await client.query('select * from check_ledger()')).rows, []);
});

t.test('a step that fails leaves nothing of itself, and the next run goes on from there', async (t) => {
  const { url, client } = await emptyDatabase(t);
  await client.query('create table votes (in_the_way int)');
  await t.rejects(migrate(url), { code: '42P07' });
  t.same((await client.query("select to_regclass('polls') as polls, to_regclass('accounts')::text as accounts")).rows, [
    { polls: null, accounts: 'accounts' },
  ]);
  await client.query('drop table votes');
  t.equal((await migrate(url))[0], '0003-polls');
});

t.test('a database that is newer than the code is left alone', async (t) => {
  const { url, client } = await emptyDatabase(t);
  await migrate(url);
  await client.query("insert into schema_migrations (name) values ('9999-from-the-future')");
  t.same(await migrate(url), []);
});

t.test('a database of another text of a step, or of a step that is gone, is refused and named', async (t) => {
  const changes = [
    ["update schema_migrations set tables_sha256 = 'other' where name = '0003-polls'", '0003-polls'],
    ['alter table schema_migrations drop column tables_sha256', '0001-accounts'],
    ["insert into schema_migrations (name) values ('0002-renamed')", '0002-renamed'],
  ] as const;
  for (const [change, step] of changes) {
    const { url, client } = await emptyDatabase(t);
    await migrate(url);
    await client.query(change);
    await t.rejects(migrate(url), new OtherSchema(step));
  }
});
