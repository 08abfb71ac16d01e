import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import t, { type Test } from 'tap';
import {
  acceptPoll,
  balanceOf,
  checkLedger,
  claimPoll,
  createAccount,
  creditAccount,
  findAccount,
  finishPoll,
  inTransaction,
  isStorageError,
  openStorage,
} from '../src/index.ts';
import { acceptance, finished, funded, open, together, USD, unique } from './fixtures.ts';

// slow: 5 s

const UNKNOWN_ACCOUNT = '11111111-1111-4111-8111-111111111111';

t.test('a Postgres that is not there, refuses or is read-only is StorageUnavailable', async (t) => {
  const { storage, url, query } = await open(t);
  const unavailable = { name: 'StorageUnavailable' };
  const closed = await closedPort();
  await using away = openStorage({ databaseUrl: `postgres://postgres@127.0.0.1:${closed}/none` });
  await t.rejects(findAccount(away, UNKNOWN_ACCOUNT), unavailable, 'no server listens');
  const missing = new URL(url);
  missing.pathname = '/no_such_database';
  await using wrong = openStorage({ databaseUrl: missing.href });
  await t.rejects(findAccount(wrong, UNKNOWN_ACCOUNT), unavailable, 'no such database');
  const [row] = await query<{ name: string }>('select current_database() as name');
  await query(`alter database ${row!.name} set default_transaction_read_only = on`);
  await t.rejects(createAccount(storage), unavailable, 'read-only');
});

t.test('a server that goes away right after it accepted us is StorageUnavailable, and the process lives', async (t) => {
  const message = (kind: string, body: Buffer): Buffer => {
    const head = Buffer.alloc(5, kind);
    head.writeInt32BE(body.length + 4, 1);
    return Buffer.concat([head, body]);
  };
  const farewell = Buffer.concat([
    message('R', Buffer.alloc(4)),
    message('Z', Buffer.from('I')),
    message('E', Buffer.from('SFATAL\0C57P01\0Mterminating connection due to unexpected postmaster exit\0\0')),
  ]);
  const server = createServer((socket) => {
    socket.on('error', () => {});
    socket.once('data', () => socket.write(farewell));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => server.close());
  const { port } = server.address() as AddressInfo;
  await using storage = openStorage({ databaseUrl: `postgres://postgres@127.0.0.1:${port}/any` });
  for (let i = 0; i < 3; i++) await t.rejects(findAccount(storage, UNKNOWN_ACCOUNT), { name: 'StorageUnavailable' });
});

t.test('a pool that is used up answers in time instead of queueing for ever', async (t) => {
  const { url } = await open(t);
  // Also the time in which the one connection is made.
  await using storage = openStorage({ databaseUrl: url, maxConnections: 1, connectTimeoutMs: 2_000 });
  await inTransaction(storage, async () => {
    await t.rejects(findAccount(storage, UNKNOWN_ACCOUNT), { name: 'StorageUnavailable' });
  });
  t.equal(await findAccount(storage, UNKNOWN_ACCOUNT), null, 'and serves again');
});

t.test('a locked account is StorageBusy in time; other accounts are not kept waiting', async (t) => {
  const { storage, url, query } = await open(t);
  const [locked, free] = [await funded(storage, USD), await funded(storage, USD)];
  await using hasty = openStorage({ databaseUrl: url, lockTimeoutMs: 50, connectTimeoutMs: 30_000 });
  await query('begin');
  await query('select 1 from balances where account_id = $1 for update', [locked]);
  await t.rejects(acceptPoll(hasty, acceptance(locked)), { name: 'StorageBusy' });
  t.match(await acceptPoll(hasty, acceptance(free)), { kind: 'accepted' });
  await query('rollback');
  t.match(await acceptPoll(hasty, acceptance(locked)), { kind: 'accepted' });
});

t.test('a statement that takes too long is StorageBusy, and its connection is good again', async (t) => {
  const { url, query } = await open(t);
  await using storage = openStorage({
    databaseUrl: url,
    maxConnections: 1,
    statementTimeoutMs: 500,
    connectTimeoutMs: 30_000,
  });
  await query('begin; lock table accounts in access exclusive mode');
  await t.rejects(findAccount(storage, UNKNOWN_ACCOUNT), { name: 'StorageBusy' });
  await query('rollback');
  t.equal(await findAccount(storage, UNKNOWN_ACCOUNT), null);
});

t.test('what Postgres cannot store is StorageRefused, and no message carries a value', async (t) => {
  const { storage } = await open(t);
  for (const email of ['secret\u0000secret']) {
    const refusal = await createAccount(storage, { email }).catch((error: unknown) => error);
    t.ok(isStorageError(refusal));
    t.match(refusal, { name: 'StorageRefused' });
    t.notMatch((refusal as Error).message, /secret|select|insert/i);
  }
});

t.test('connections that Postgres cuts are replaced, and an idle one does not end the process', async (t) => {
  const { storage, query } = await open(t, { maxConnections: 4 });
  const accountId = await funded(storage, USD);
  await together(4, 4, () => balanceOf(storage, accountId));
  await query(`select pg_terminate_backend(pid) from pg_stat_activity
    where pid <> pg_backend_pid() and datname = current_database()`);
  const answers = await together(40, 4, () => balanceOf(storage, accountId).catch((error: unknown) => error));
  const failures = answers.filter((answer) => answer instanceof Error);
  for (const failure of failures) t.match(failure, { name: 'StorageUnavailable' });
  t.ok(failures.length <= 4, 'a dead connection fails one caller at most');
  t.match(answers.at(-1), { availableU: USD });
});

t.test('an answer lost at commit: the poll is accepted once, and the caller learns it', async (t) => {
  const { storage, url, query } = await open(t);
  const accountId = await funded(storage, USD);
  const request = acceptance(accountId);
  // The first connection delivers the statement and dies before its answer arrives; later ones work.
  const proxy = await loseFirstAnswer(t, url, 'accept_poll');
  await using distant = openStorage({ databaseUrl: proxy.url, maxConnections: 1, connectTimeoutMs: 30_000 });
  t.same(await acceptPoll(distant, request), { kind: 'accepted', pollId: request.poll.id, rank: 0 });
  t.equal(proxy.lost(), 1, 'an answer was lost');
  t.same(await query('select count(*)::int as n from polls'), [{ n: 1 }]);
  t.match(await balanceOf(storage, accountId), { heldU: USD });
  t.same(await checkLedger(storage), []);
});

t.test('an answer lost at the end: the poll is finished and billed once', async (t) => {
  const { storage, url, query } = await open(t);
  const accountId = await funded(storage, USD);
  const request = acceptance(accountId);
  await acceptPoll(storage, request);
  const claim = await claimPoll(storage, request.poll.id, 'worker');
  const proxy = await loseFirstAnswer(t, url, 'end_poll');
  await using distant = openStorage({ databaseUrl: proxy.url, maxConnections: 1, connectTimeoutMs: 30_000 });
  t.match(await finishPoll(distant, finished(claim!)), { outcome: 'stored' });
  t.equal(proxy.lost(), 1, 'an answer was lost');
  t.same(await query("select count(*)::int as n from transfers where kind = 'post'"), [{ n: 1 }]);
  t.match(await balanceOf(storage, accountId), { heldU: 0n, usageU: 801n });
  t.same(await checkLedger(storage), []);
});

t.test('a server that stops answering is given up by the client’s own clock', async (t) => {
  const { url } = await open(t);
  const proxy = await loseFirstAnswer(t, url, 'from "accounts"', { hang: true });
  await using storage = openStorage({
    databaseUrl: proxy.url,
    maxConnections: 1,
    statementTimeoutMs: 500,
    connectTimeoutMs: 30_000,
  });
  await t.rejects(findAccount(storage, UNKNOWN_ACCOUNT), { name: 'StorageUnavailable' });
  t.equal(await findAccount(storage, UNKNOWN_ACCOUNT), null, 'the stuck connection is not reused');
});

t.test('deadlocks are retried: crossing transfers all succeed', async (t) => {
  const { storage, query } = await open(t, { maxConnections: 2 });
  // Postgres looks for deadlocks after a second; here it finds them sooner. No connection is open yet.
  const [row] = await query<{ name: string }>('select current_database() as name');
  await query(`alter database ${row!.name} set deadlock_timeout = '10ms'`);
  const [one, other] = [await funded(storage, 0n), await funded(storage, 0n)] as [string, string];
  let attempts = 0;
  // Each takes its first account before either asks for its second: that is a deadlock, for certain.
  const met = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  await together(2, 2, (index) =>
    inTransaction(storage, async (tx) => {
      attempts++;
      for (const accountId of index === 0 ? [one, other] : [other, one]) {
        await creditAccount(tx, { accountId, amountU: 1n, source: 'operator', idem: unique() });
        met[index]!.resolve();
        await met[1 - index]!.promise;
      }
    }),
  );
  t.ok(attempts > 2, 'one of them had to start over');
  for (const accountId of [one, other]) t.match(await balanceOf(storage, accountId), { postedU: 2n });
  t.same(await checkLedger(storage), []);
});

async function closedPort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** Passes bytes on to Postgres, but the answer to the first statement that contains `marker` never arrives. */
async function loseFirstAnswer(t: Test, databaseUrl: string, marker: string, { hang = false } = {}) {
  const target = new URL(databaseUrl);
  const sockets = new Set<Socket>();
  let lost = 0;
  const server = createServer((client) => {
    const upstream = connect(Number(target.port), target.hostname);
    let swallow = false;
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on('error', () => {});
      socket.on('close', () => {
        client.destroy();
        if (!swallow) upstream.destroy();
      });
    }
    client.on('data', (bytes) => {
      if (lost === 0 && bytes.includes(marker)) {
        lost++;
        swallow = true;
      }
      upstream.write(bytes);
    });
    upstream.on('data', (bytes) => {
      if (!swallow) client.write(bytes);
      else if (!hang) client.destroy();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const url = new URL(databaseUrl);
  url.hostname = '127.0.0.1';
  url.port = String((server.address() as { port: number }).port);
  return { url: url.href, lost: () => lost };
}
