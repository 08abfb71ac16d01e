import { chmodSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { freePort } from '@eloquentpoll/services/free-port';
import { startPostgres } from '@eloquentpoll/services/postgres';
import { ProcessGroup } from '@eloquentpoll/services/process-group';
import { startRedis } from '@eloquentpoll/services/redis';
import { eventually } from '@eloquentpoll/testkit/eventually';
import { Redis } from 'ioredis';
import pg from 'pg';
import t from 'tap';
import { leftIn, ordinaryUser, runFixture, temporaryFolder } from './fixtures/run-fixture.ts';

// slow: 20 s

// Real servers in throw-away folders, and everything that can have happened to them before.

async function ask(url: string, query: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query(query)).rows;
  } finally {
    await client.end();
  }
}

async function redisCommand(url: string, ...command: [string, ...string[]]): Promise<unknown> {
  const client = new Redis(url, { lazyConnect: true, retryStrategy: null });
  client.on('error', () => {});
  try {
    await client.connect();
    return await client.call(...command);
  } finally {
    client.disconnect();
  }
}

/** A log of Redis is written to a disk that others use too. */
const GRACE_MS = 30_000;

async function services(folder: string) {
  const group = await ProcessGroup.open(folder);
  const [postgres, redis] = await Promise.all([
    startPostgres({ group, password: 'secret', durable: false, stage: 2, grace_ms: GRACE_MS }),
    startRedis({ group, password: 'secret', durable: true, stage: 1, grace_ms: GRACE_MS }),
  ]);
  return { group, postgres, redis };
}

t.test('data is kept between starts, behind a password, on loopback only', async (t) => {
  const folder = temporaryFolder(t);
  {
    const { group, postgres, redis } = await services(folder);
    await ask(postgres.url, 'create table kept as select 7 as n');
    await redisCommand(redis.url, 'SET', 'kept', '7');
    const wrong = postgres.url.replace(':secret@', ':wrong@');
    await t.rejects(ask(wrong, 'select 1'), { code: '28P01' }, 'Postgres wants the password');
    await t.rejects(redisCommand(redis.url.replace(':secret@', ''), 'GET', 'kept'), 'Redis wants the password');
    t.same(await ask(postgres.url, 'show listen_addresses'), [{ listen_addresses: '127.0.0.1' }]);
    t.same(await redisCommand(redis.url, 'CONFIG', 'GET', 'maxmemory-policy'), ['maxmemory-policy', 'noeviction']);
    const commandLine = readFileSync(`/proc/${redis.process.pid}/cmdline`, 'utf8');
    t.notMatch(commandLine, /secret/, 'no process list shows the password');
    t.same(await group.stop(), [], 'none had to be killed');
  }
  const { group, postgres, redis } = await services(folder);
  t.same(await ask(postgres.url, 'select n from kept'), [{ n: 7 }]);
  t.equal(await redisCommand(redis.url, 'GET', 'kept'), '7');
  await group.stop();
  t.same(leftIn(folder), []);
});

t.test('an ordinary user starts and stops both servers', async (t) => {
  const user = ordinaryUser();
  const folder = temporaryFolder(t, user);
  const fixture = runFixture(t, 'services.ts', { args: [folder], ...user });
  const { postgres, redis } = await fixture.ready;
  t.same(await ask(postgres, 'select 1 as one'), [{ one: 1 }]);
  t.equal(await redisCommand(redis, 'PING'), 'PONG');
  const owner = statSync(join(folder, 'postgres')).uid;
  t.equal(owner, user.uid ?? process.getuid?.());
  fixture.child.kill('SIGTERM');
  t.equal((await fixture.ended).code, 0);
  t.same(leftIn(folder), []);
});

t.test('a run that was killed takes its servers along, and the next one finds its data', async (t) => {
  const folder = temporaryFolder(t);
  const fixture = runFixture(t, 'services.ts', { args: [folder] });
  const { postgres } = await fixture.ready;
  await ask(postgres, 'create table kept as select 7 as n');
  fixture.child.kill('SIGKILL');
  await eventually('the guard has ended the servers', () => leftIn(folder).length === 0);
  const next = runFixture(t, 'services.ts', { args: [folder] });
  t.same(await ask((await next.ready).postgres, 'select n from kept'), [{ n: 7 }]);
  next.child.kill('SIGTERM');
  t.equal((await next.ended).code, 0);
});

t.test(
  'servers that outlived a killed run, its guard and its list of processes are ended by the next start',
  async (t) => {
    const folder = temporaryFolder(t);
    const fixture = runFixture(t, 'services.ts', { args: [folder] });
    const { pids } = await fixture.ready;
    const record = JSON.parse(readFileSync(join(folder, 'processes.json'), 'utf8'));
    process.kill(record.guard.pid, 'SIGKILL');
    fixture.child.kill('SIGKILL');
    await fixture.ended;
    t.ok(leftIn(folder).includes(pids.postgres), 'Postgres is an orphan');
    rmSync(join(folder, 'processes.json'));
    const next = runFixture(t, 'services.ts', { args: [folder] });
    const ready = await next.ready;
    t.not(ready.pids.postgres, pids.postgres);
    t.notOk(leftIn(folder).includes(pids.postgres), 'the orphan is gone');
    next.child.kill('SIGTERM');
    t.equal((await next.ended).code, 0);
  },
);

t.test('a stale postmaster.pid does not matter, not even when its pid belongs to another process', async (t) => {
  const folder = temporaryFolder(t);
  const first = await services(folder);
  await first.group.stop();
  for (const pid of [999_999_999, process.pid]) {
    writeFileSync(join(folder, 'postgres/postmaster.pid'), `${pid}\n${folder}/postgres\n1\n1\n\n\n`);
    const { group, postgres } = await services(folder);
    t.same(await ask(postgres.url, 'select 1 as one'), [{ one: 1 }], `with process ${pid}`);
    await group.stop();
  }
});

t.test('a port that is taken in the last moment is replaced', async (t) => {
  const folder = temporaryFolder(t);
  const stranger = createServer((socket) => t.teardown(() => socket.destroy())).listen(0, '127.0.0.1');
  await new Promise((resolve) => stranger.once('listening', resolve));
  t.teardown(() => stranger.close());
  const address = stranger.address();
  const busy = typeof address === 'object' && address ? address.port : 0;
  const ports = () => {
    const queue = [busy];
    return async () => queue.shift() ?? freePort();
  };
  const group = await ProcessGroup.open(folder);
  t.teardown(() => group.stop());
  const postgres = await startPostgres({ group, password: 'secret', durable: false, stage: 2, ports: ports() });
  const redis = await startRedis({ group, password: 'secret', durable: false, stage: 1, ports: ports() });
  t.notMatch(postgres.url, `:${busy}/`);
  t.notMatch(redis.url, `:${busy}`);
  t.same(await ask(postgres.url, 'select 1 as one'), [{ one: 1 }]);
});

t.test('a folder that cannot be written is one sentence', async (t) => {
  const user = ordinaryUser();
  const folder = temporaryFolder(t, user);
  const first = runFixture(t, 'services.ts', { args: [folder], ...user });
  await first.ready;
  first.child.kill('SIGTERM');
  await first.ended;
  chmodSync(join(folder, 'postgres'), 0o500);
  chmodSync(join(folder, 'postgres/postgresql.conf'), 0o000);
  const { code, output } = await runFixture(t, 'services.ts', { args: [folder], ...user }).ended;
  chmodSync(join(folder, 'postgres'), 0o700);
  chmodSync(join(folder, 'postgres/postgresql.conf'), 0o600);
  if (user.uid === undefined && process.getuid?.() === 0) return;
  t.equal(code, 1);
  t.match(output, /Postgres may not use .*postgres: give the folder to the user who starts it/);
  const again = runFixture(t, 'services.ts', { args: [folder], ...user });
  await again.ready;
  again.child.kill('SIGTERM');
  t.equal((await again.ended).code, 0, 'and nothing was broken by it');
});

t.test('data of another major version, and lost secrets, are one sentence each', async (t) => {
  const folder = temporaryFolder(t);
  const first = runFixture(t, 'services.ts', { args: [folder] });
  await first.ready;
  first.child.kill('SIGTERM');
  await first.ended;
  const versionFile = join(folder, 'postgres/PG_VERSION');
  const version = readFileSync(versionFile, 'utf8');
  writeFileSync(versionFile, '12\n');
  const other = await runFixture(t, 'services.ts', { args: [folder] }).ended;
  t.equal(other.code, 1);
  t.match(other.output, /holds data of Postgres 12 and the server here is \d+: move the folder away/);
  writeFileSync(versionFile, version);

  const secretsFile = join(folder, 'secrets.json');
  const secrets = readFileSync(secretsFile, 'utf8');
  t.equal(statSync(secretsFile).mode & 0o777, 0o600);
  writeFileSync(secretsFile, secrets.replace(/"postgresPassword": "\w+"/, '"postgresPassword": "other"'));
  const wrong = await runFixture(t, 'services.ts', { args: [folder] }).ended;
  t.match(wrong.output, /refuses the password of .*secrets\.json/);
  rmSync(secretsFile);
  const lost = await runFixture(t, 'services.ts', { args: [folder] }).ended;
  t.match(lost.output, /secrets\.json is gone/);
});

t.test('without any Redis to be had: one sentence that says what to install', async (t) => {
  const folder = temporaryFolder(t);
  const group = await ProcessGroup.open(folder);
  t.teardown(() => group.stop());
  const starting = startRedis({
    group,
    password: 'secret',
    durable: false,
    stage: 1,
    // apt is found wherever it is, but not the archive behind it.
    env: { PATH: folder, http_proxy: 'http://127.0.0.1:1', https_proxy: 'http://127.0.0.1:1' },
    tools: join(folder, 'tools'),
  });
  await t.rejects(starting, /install redis-server or valkey-server 6\.2 or newer, or set REDIS_URL/);
});
