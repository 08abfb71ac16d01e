import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { eventually } from '@eloquentpoll/testkit/eventually';
import t, { type Test } from 'tap';
import { acceptPoll, balanceOf, checkLedger, findAccount, inTransaction, openStorage } from '../src/index.ts';
import { acceptance, funded, open, USD } from './fixtures.ts';

// A moment in which Postgres takes no connection, or in which all connections are busy: nothing was sent, so all work waits.

const UNKNOWN_ACCOUNT = '11111111-1111-4111-8111-111111111111';
/** Longer than any test: a crowded machine must not look like an outage. */
const LONG_MS = 60_000;

/** The way to Postgres, which is closed and opened. */
async function openLink(t: Test, databaseUrl: string) {
  const { port } = new URL(databaseUrl);
  const sockets = new Set<Socket>();
  const state = { isOpen: true, taken: 0, refused: 0 };
  const server = createServer((near) => {
    sockets.add(near.on('error', () => {}));
    state.taken += 1;
    if (!state.isOpen) {
      state.refused += 1;
      near.destroy();
      return;
    }
    const far = connect(Number(port), '127.0.0.1');
    sockets.add(far.on('error', () => {}));
    far.on('close', () => near.destroy());
    near.on('close', () => far.destroy());
    near.pipe(far).pipe(near);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const cut = () => {
    for (const socket of sockets) socket.destroy();
    sockets.clear();
  };
  t.teardown(() => {
    cut();
    server.close();
  });
  const url = new URL(databaseUrl);
  url.hostname = '127.0.0.1';
  url.port = String((server.address() as AddressInfo).port);
  return { url: url.href, state, cut };
}

t.test('while no connection is to be had, reads, transactions and polls wait, and each is made once', async (t) => {
  const { storage, url } = await open(t);
  const accountId = await funded(storage, 100n * USD);
  const link = await openLink(t, url);
  await using behind = openStorage({
    databaseUrl: link.url,
    maxConnections: 4,
    connectTimeoutMs: LONG_MS,
    askAgainForMs: LONG_MS,
  });
  await Promise.all([1, 2, 3, 4].map(() => balanceOf(behind, accountId)));
  link.state.isOpen = false;
  link.cut();
  await eventually('its connections are gone', () => behind.pool.totalCount === 0);
  const asked = Array.from({ length: 5 }, () => acceptance(accountId, { holdU: USD }));
  const work = Promise.all([
    ...asked.map((one) => acceptPoll(behind, one)),
    ...[1, 2, 3].map(() => balanceOf(behind, accountId)),
    inTransaction(behind, (tx) => findAccount(tx, UNKNOWN_ACCOUNT)),
  ]);
  await eventually('all were refused, some again', () => link.state.refused >= 20);
  link.state.isOpen = true;
  t.same(new Set((await work).slice(0, asked.length).map((done) => Object(done).kind)), new Set(['accepted']));
  t.match(await balanceOf(storage, accountId), { heldU: 5n * USD });
  t.same(await checkLedger(storage), []);
});

t.test('where all connections are busy for longer than an attempt waits, the next attempt has one', async (t) => {
  const { storage, url } = await open(t);
  const accountId = await funded(storage, USD);
  // Also the time in which the one connection is made, again and again where the machine is crowded.
  await using small = openStorage({
    databaseUrl: url,
    maxConnections: 1,
    connectTimeoutMs: 300,
    askAgainForMs: LONG_MS,
  });
  const done = Promise.withResolvers<void>();
  const begun = Promise.withResolvers<void>();
  const busy = inTransaction(small, async () => {
    begun.resolve();
    await done.promise;
  });
  await begun.promise;
  const waiting = balanceOf(small, accountId);
  await eventually('it waits', () => small.pool.waitingCount === 1);
  await eventually('in vain', () => small.pool.waitingCount === 0);
  done.resolve();
  await busy;
  t.match(await waiting, { availableU: USD });
});

t.test('an outage is noticed: after the moment each caller is refused as fast as the server refuses', async (t) => {
  const { url } = await open(t);
  const link = await openLink(t, url);
  link.state.isOpen = false;
  await using storage = openStorage({ databaseUrl: link.url, connectTimeoutMs: LONG_MS, askAgainForMs: 2_000 });
  const unavailable = { name: 'StorageUnavailable' };
  await t.rejects(findAccount(storage, UNKNOWN_ACCOUNT), unavailable);
  t.ok(link.state.refused > 1, 'the first one asked again');
  // The moment of all began with that one's failure, a little after it had asked.
  await t.rejects(findAccount(storage, UNKNOWN_ACCOUNT), unavailable);
  link.state.refused = 0;
  for (let i = 0; i < 3; i++) await t.rejects(findAccount(storage, UNKNOWN_ACCOUNT), unavailable);
  t.equal(link.state.refused, 3);
  link.state.isOpen = true;
  t.equal(await findAccount(storage, UNKNOWN_ACCOUNT), null);
});

t.test('a database that does not exist is not asked for again', async (t) => {
  const { url } = await open(t);
  const missing = new URL(url);
  missing.pathname = '/no_such_database';
  const link = await openLink(t, missing.href);
  await using storage = openStorage({ databaseUrl: link.url, connectTimeoutMs: LONG_MS, askAgainForMs: LONG_MS });
  const failure = await findAccount(storage, UNKNOWN_ACCOUNT).catch((error: unknown) => error);
  t.match(failure, { name: 'StorageUnavailable', message: /3D000/ });
  t.equal(link.state.taken, 1);
});
