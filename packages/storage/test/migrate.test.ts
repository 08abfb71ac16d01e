import { randomBytes } from 'node:crypto';
import { requireEnv } from '@eloquentpoll/testkit/require-env';
import pg from 'pg';
import t, { type Test } from 'tap';
import { acceptPoll, finishPoll, type MigrationProgress, migrate, OtherSchema, openStorage } from '../src/index.ts';
import { migrations } from '../src/migrations/index.ts';
import { acceptance, finished, funded, GENEROUS, newPoll, USD } from './fixtures.ts';

// slow: 7 s

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
  await t.rejects(migrate(url, { roles: ['no_such_role', 'postgres'] }), {
    message: /^these roles do not exist yet: no_such_role(, postgres)?$/,
  });
  const { rows } = await client.query('select name from schema_migrations order by name');
  t.same(
    rows.map(({ name }) => name),
    names,
  );
  t.same((await client.query('select * from check_ledger()')).rows, []);
});

t.test('who waits for another migration says which session it is, and each step before it begins', async (t) => {
  const { url, client } = await emptyDatabase(t);
  await client.query("set application_name = 'left behind'");
  const { rows } = await client.query('select pg_backend_pid() as pid, pg_advisory_lock(7205759403)');
  const said: MigrationProgress[] = [];
  const steps = await migrate(url, {
    say(progress) {
      said.push(progress);
      if (progress.kind === 'waiting') void client.query('select pg_advisory_unlock(7205759403)');
    },
  });
  const [first, ...others] = said;
  t.match(first, {
    kind: 'waiting',
    holder: { pid: rows[0].pid, application: 'left behind', since: Date, state: 'idle', stateSince: Date },
  });
  t.same(
    others,
    steps.map((step) => ({ kind: 'applying', step })),
  );
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

t.test('functions of an older release become those of this one, for the roles that may call them', async (t) => {
  const { url, client } = await emptyDatabase(t);
  await migrate(url);
  const functions = async () =>
    (
      await client.query(`select pg_get_functiondef(oid) as text, proacl from pg_proc
                           where pronamespace = 'public'::regnamespace order by proname`)
    ).rows;
  const present = await functions();
  await client.query(`
    drop function claim_poll, label_of;
    create function claim_poll(p_id text, p_worker text, p_lease_ms integer, p_schema integer, p_max_claims integer)
      returns table (id text) language sql as $$ select $1 $$;
    create or replace function month_ids(p_at timestamptz) returns text language sql as $$ select 'older' $$;
    update schema_migrations set name = 'functions-1.0.0-older' where name like 'functions-%';
    update schema_migrations set name = 'grants-older' where name like 'grants-%'`);
  t.notSame(await functions(), present);
  t.match(await migrate(url), [/^functions-\d+\.\d+\.\d+-[0-9a-f]{16}$/, /^grants-/]);
  t.same(await functions(), present);
  t.same(await migrate(url), []);
});

t.test('polls are accepted, claimed and ended between the steps that load their functions', async (t) => {
  const { url, client } = await emptyDatabase(t);
  const names = migrations.map(({ name }) => name);
  const first = names.indexOf('0020-poll-cost');
  // Steps before it are of the release before, whose texts are not known here.
  for (let applied = first + 1; applied <= names.length; applied++) {
    await migrate(url, { without: names.slice(applied) });
    await using storage = openStorage({ databaseUrl: url, ...GENEROUS });
    const poll = newPoll(await funded(storage, USD));
    t.match(await acceptPoll(storage, acceptance(null, { poll })), { kind: 'accepted' }, `after ${names[applied - 1]}`);
    const { rows } = await client.query("select * from claim_poll($1, 'worker', 8000, 1, 3)", [poll.id]);
    t.equal(rows[0]?.lease_epoch, 1);
    t.match(await finishPoll(storage, finished({ id: poll.id, epoch: 1 })), { outcome: 'stored' });
  }
  t.same((await client.query('select * from check_ledger()')).rows, []);
});

t.test('an index of a table by month is built for each month, and a repeat builds what is missing', async (t) => {
  const { url, client } = await emptyDatabase(t);
  const names = migrations.map(({ name }) => name);
  await migrate(url, { without: names.slice(names.indexOf('0033-indexes-of-accounts')) });
  // The first attempt was broken off, and a month has come since.
  await client.query(`create index results_history on only results (account_id, created_at desc, poll_id)
                        include (expires_at) where account_id is not null`);
  // In the last two days of a month, the first partition is two months long.
  await client.query('select keep_months(4)');
  await client.query('create index results_first_history on results_first (account_id)');
  await client.query(`update pg_index set indisvalid = false where indexrelid = 'results_first_history'::regclass`);
  await migrate(url);
  const { rows: indexes } = await client.query(`
    select c.oid::regclass::text as name, count(*) filter (where p.inhrelid is not null)::int as attached,
           bool_and(coalesce(x.indisvalid, false)) as valid
      from pg_inherits i join pg_class c on c.oid = i.inhrelid
      left join pg_index x on x.indrelid = c.oid and pg_get_indexdef(x.indexrelid) like '% INCLUDE (expires_at)%'
      left join pg_inherits p on p.inhrelid = x.indexrelid and p.inhparent = 'results_history'::regclass
     where i.inhparent = 'results'::regclass group by 1`);
  t.ok(indexes.length > 3);
  for (const { name, attached, valid } of indexes) t.same([attached, valid], [1, true], name);
  const { rows } = await client.query(`
    select indexrelid::regclass::text as name, indisvalid as valid from pg_index
     where indexrelid::regclass::text in ('results_history', 'results_account', 'deposits_account') order by 1`);
  t.same(rows, [
    { name: 'deposits_account', valid: true },
    { name: 'results_history', valid: true },
  ]);
});

t.test('deposits that were credited before their final blocks were noted count as met', async (t) => {
  const { url, client } = await emptyDatabase(t);
  const names = migrations.map(({ name }) => name);
  await migrate(url, { without: names.slice(names.indexOf('0029-final-deposits')) });
  for (const [state, byte] of [
    ['credited', 1],
    ['settling', 2],
  ])
    await client.query(
      `insert into deposits (chain_id, asset, payer, nonce, pay_to, amount_u, valid_before, proof, state, account_id, tx_hash)
       select 1, a, a, decode(repeat(lpad($2, 2, '0'), 32), 'hex'), a, 5, now(), '{}', $1, id, decode(repeat('00', 32), 'hex')
         from accounts, decode(repeat('00', 20), 'hex') a limit 1`,
      [state, byte],
    );
  await migrate(url);
  const { rows } = await client.query('select state, final_at is not null as met from deposits order by state');
  t.same(rows, [
    { state: 'credited', met: true },
    { state: 'settling', met: false },
  ]);
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

t.test('the owner of a database migrates it, and is no superuser', async (t) => {
  const { url, client } = await emptyDatabase(t);
  const owner = `owner_${randomBytes(4).toString('hex')}`;
  const database = new URL(url).pathname.slice(1);
  await client.query(`create role ${owner} login password 'secret'`);
  await client.query(`alter database ${database} owner to ${owner}`);
  t.teardown(() =>
    client.query(`reassign owned by ${owner} to current_user; drop owned by ${owner}; drop role ${owner}`),
  );
  const asOwner = new URL(url);
  [asOwner.username, asOwner.password] = [owner, 'secret'];
  await t.resolves(migrate(asOwner.href));
});
