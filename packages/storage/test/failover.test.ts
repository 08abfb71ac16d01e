import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { FOLLOWED } from '@eloquentpoll/services/copy-postgres';
import { databaseOn, queryOnce } from '@eloquentpoll/services/databases';
import { freePort } from '@eloquentpoll/services/free-port';
import { type PostgresOptions, startPostgres } from '@eloquentpoll/services/postgres';
import { openThrowAwayGroup } from '@eloquentpoll/services/throw-away-group';
import { eventually } from '@eloquentpoll/testkit/eventually';
import t, { type Test } from 'tap';
import { acceptPoll, checkLedger, isStorageError, migrate, openStorage, type StorageOptions } from '../src/index.ts';
import { acceptance, funded, GENEROUS, USD } from './fixtures.ts';

// slow: 25 s

// A primary that is killed under load and a synchronous standby that is promoted, with addresses of both.

t.test('what was acknowledged is on the new primary, which is found, also when the old one comes back', async (t) => {
  const group = await openThrowAwayGroup('a failover', { neededMb: 300, inMemory: true });
  t.teardown(() => group[Symbol.asyncDispose]());
  const settings = { ...FOLLOWED, synchronous_commit: 'on', fsync: 'on', full_page_writes: 'on' };
  const common: PostgresOptions = { group, password: 'secret', durable: false, stage: 1, settings };
  const old = await startPostgres(common);
  await queryOnce(old.url, 'create database ep');
  await migrate(databaseOn(old.url, 'ep'));
  const standby = await startPostgres({ ...common, name: 'standby', standbyOf: old });
  await queryOnce(old.url, "alter system set synchronous_standby_names = '*'");
  await queryOnce(old.url, 'select pg_reload_conf()');
  await eventually('commits wait for the standby', async () => {
    const rows = await queryOnce(old.url, "select from pg_stat_replication where sync_state = 'sync'");
    return rows.length === 1;
  });

  const hosts = [standby, old].map(({ url }) => new URL(url).host).join(',');
  const databaseUrl = `postgres://postgres:secret@${hosts}/ep?target_session_attrs=read-write`;
  t.same(await migrate(databaseUrl), [], 'the migration finds the primary');
  const open = (more: Partial<StorageOptions> = {}) => {
    const storage = openStorage({ databaseUrl, statementTimeoutMs: 1_000, ...more });
    t.teardown(() => storage[Symbol.asyncDispose]());
    return storage;
  };
  const storage = open();
  const patient = open(GENEROUS);
  const accountId = await funded(patient, 1_000_000n * USD);
  const acknowledged: string[] = [];
  const unknown: string[] = [];
  let isOver = false;
  const callers = Array.from({ length: 6 }, async () => {
    while (!isOver) {
      const asked = acceptance(accountId, { holdU: 1n });
      try {
        await acceptPoll(storage, asked);
        acknowledged.push(asked.poll.id);
      } catch (error) {
        if (!isStorageError(error)) throw error;
        unknown.push(asked.poll.id);
      }
    }
  });
  await eventually('polls are accepted', () => acknowledged.length > 50);
  old.process.signal('SIGKILL');
  await old.process.exited;
  await queryOnce(standby.url, 'select pg_promote()');
  const before = acknowledged.length;
  await eventually('polls are accepted again', () => acknowledged.length > before + 50);
  isOver = true;
  await Promise.all(callers);

  const promoted = databaseOn(standby.url, 'ep');
  const stored = new Set((await queryOnce<{ id: string }>(promoted, 'select id from polls')).map(({ id }) => id));
  t.same(
    acknowledged.filter((id) => !stored.has(id)),
    [],
    `${acknowledged.length} acknowledged, ${unknown.length} unknown`,
  );
  t.same(await checkLedger(patient), []);

  // Nothing keeps it from taking writes, and no process may choose it.
  const again = await startPostgres({ ...common, ports: async () => Number(new URL(old.url).port) });
  t.equal((await queryOnce<{ lost: boolean }>(again.url, 'select pg_is_in_recovery() as lost'))[0]!.lost, false);
  const newcomer = open({ databaseUrl: databaseUrl.replace(hosts, hosts.split(',').toReversed().join(',')) });
  const asked = acceptance(accountId, { holdU: 1n });
  await eventually('a new process is served', async () => {
    await acceptPoll(newcomer, asked);
    return true;
  });
  t.equal(
    (await queryOnce(promoted, `select from polls where id = '${asked.poll.id}'`)).length,
    1,
    'by the new primary',
  );

  const [oldPort, newPort] = [old, standby].map(({ url }) => Number(new URL(url).port));
  const openBy = (ports: readonly number[], more: Partial<StorageOptions> = {}) => {
    const storage = open({
      databaseUrl: databaseUrl.replace(hosts, ports.map((port) => `127.0.0.1:${port}`).join(',')),
      ...more,
    });
    return async () => (await storage.call<{ port: number; pid: number }>(WHERE, []))[0]!;
  };

  await t.test('who took the old primary, because the new one could not be asked, moves to it', async (t) => {
    const link = await openLink(t, newPort!);
    link.silence();
    let refused = 0;
    const serving = openBy([link.port, oldPort!], { onOlderPrimary: () => (refused += 1) });
    t.equal((await serving()).port, oldPort, 'a process that begins now takes the old one');
    link.speak();
    await eventually('it moves, though no connection failed', async () => (await serving()).port === newPort);
    link.close();
    await t.rejects(serving(), { name: 'StorageUnavailable' }, 'and does not go back');
    await eventually('which is said', () => refused === 1);
  });

  await t.test('who begins waits for the new primary, which is slower to answer than the old one', async (t) => {
    const link = await openLink(t, newPort!, 1_500);
    t.equal((await openBy([oldPort!, link.port])()).port, newPort);
  });

  await t.test('another name of the same server is no reason to leave a connection', async (t) => {
    const link = await openLink(t, newPort!);
    link.silence();
    const serving = openBy([link.port, newPort!]);
    const { pid } = await serving();
    link.speak();
    const before = link.taken();
    await eventually('it was asked by that name', () => link.taken() >= before + 2);
    t.same(await serving(), { port: newPort, pid });
  });

  await t.test('a name that leads to the new primary from now on leaves no connection to the old one', async (t) => {
    const link = await openLink(t, oldPort!);
    const serving = openBy([link.port, await freePort()]);
    t.equal((await serving()).port, oldPort);
    link.leadTo(newPort!);
    await eventually('it moves, though nothing was cut', async () => (await serving()).port === newPort);
  });
});

const WHERE = 'select inet_server_port() as port, pg_backend_pid() as pid';

/** Leads to a server, the first connection some time later; while it is silent it takes connections and says nothing. */
async function openLink(t: Test, port: number, firstAfterMs = 0) {
  let target = port;
  let isSilent = false;
  let taken = 0;
  const sockets = new Set<Socket>();
  const server = createServer((caller) => {
    taken += 1;
    sockets.add(caller.on('error', () => {}));
    if (isSilent) return;
    const lead = () => {
      const onward = connect(target, '127.0.0.1');
      sockets.add(onward.on('error', () => {}));
      caller.pipe(onward).pipe(caller);
    };
    setTimeout(lead, taken === 1 ? firstAfterMs : 0);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const close = () => {
    for (const socket of sockets) socket.destroy();
    server.close();
  };
  t.teardown(close);
  return {
    port: (server.address() as AddressInfo).port,
    taken: () => taken,
    silence: () => {
      isSilent = true;
    },
    speak: () => {
      isSilent = false;
    },
    leadTo: (other: number) => {
      target = other;
    },
    close,
  };
}
