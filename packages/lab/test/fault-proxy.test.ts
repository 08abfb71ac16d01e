import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { eventually } from '@eloquentpoll/testkit/eventually';
import t, { type Test } from 'tap';
import { type FaultProxy, openFaultProxy } from '../src/proxy/fault-proxy.ts';
import { UNDISTURBED } from '../src/proxy/link-conditions.ts';

// The network between processes, itself under test: an echo server behind a proxy.

async function echo(t: Test) {
  const guests = new Set<Socket>();
  const server = createServer((socket) => {
    guests.add(socket);
    socket.on('error', () => {});
    socket.on('close', () => guests.delete(socket));
    socket.pipe(socket);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => {
    for (const guest of guests) guest.destroy();
    server.close();
  });
  const proxy = await openFaultProxy('link', { host: '127.0.0.1', port: (server.address() as AddressInfo).port });
  t.teardown(() => proxy[Symbol.asyncDispose]());
  return { proxy, guests };
}

async function caller(t: Test, proxy: FaultProxy) {
  const socket = connect(proxy.port, '127.0.0.1');
  t.teardown(() => socket.destroy());
  const heard = { text: '', pieces: 0, ended: false, error: '' };
  socket.on('data', (bytes) => {
    heard.text += bytes;
    heard.pieces += 1;
  });
  socket.on('end', () => {
    heard.ended = true;
  });
  socket.on('error', (error: NodeJS.ErrnoException) => {
    heard.error = error.code ?? 'error';
  });
  await once(socket, 'connect');
  return { socket, heard };
}

t.test('calm, everything passes as it is, the end included', async (t) => {
  const { proxy, guests } = await echo(t);
  const { socket, heard } = await caller(t, proxy);
  const text = 'x'.repeat(3_000_000);
  socket.end(text);
  await eventually('the connection has ended', () => heard.ended);
  t.equal(heard.text.length, text.length);
  await eventually('no connection is left on either side', () => proxy.connections === 0 && guests.size === 0);
});

t.test('latency and jitter delay, and nothing overtakes', async (t) => {
  const { proxy } = await echo(t);
  proxy.set({ latencyMs: 30, jitterMs: 20 });
  const { socket, heard } = await caller(t, proxy);
  const asked = performance.now();
  const numbers = Array.from({ length: 200 }, (_, i) => `${i},`);
  for (const number of numbers) socket.write(number);
  await eventually('the last number arrives', () => heard.text.endsWith('199,'));
  t.ok(performance.now() - asked >= 59, 'there and back');
  t.equal(heard.text, numbers.join(''));
});

t.test('bandwidth takes its time, slices arrive one by one', async (t) => {
  const { proxy } = await echo(t);
  proxy.set({ bytesPerSecond: 20_000 });
  const { socket, heard } = await caller(t, proxy);
  const asked = performance.now();
  socket.write('x'.repeat(1_000));
  await eventually('1,000 characters arrive', () => heard.text.length === 1_000);
  t.ok(performance.now() - asked >= 99, '50 ms there, 50 ms back');
  proxy.set({ sliceBytes: 10 });
  const before = heard.pieces;
  socket.write('y'.repeat(200));
  await eventually('1,200 characters arrive', () => heard.text.length === 1_200);
  t.ok(heard.pieces - before > 1, 'not in one read');
  t.match(heard.text, /^x{1000}y{200}$/);
});

t.test('a blackhole swallows nothing: what was sent arrives when it is over', async (t) => {
  const { proxy, guests } = await echo(t);
  const { socket, heard } = await caller(t, proxy);
  await eventually('the server has one connection', () => guests.size === 1);
  let reached = '';
  for (const guest of guests)
    guest.on('data', (bytes) => {
      reached += bytes;
    });
  proxy.set({ blackhole: true });
  socket.write('one');
  const late = await caller(t, proxy);
  late.socket.write('two');
  const calm = await echo(t);
  const other = await caller(t, calm.proxy);
  other.socket.write('calm');
  await eventually('the other connection hears its text', () => other.heard.text === 'calm');
  t.same([reached, heard.text, late.heard.text], ['', '', ''], 'while another link works');
  proxy.set(UNDISTURBED);
  await eventually('both connections hear their texts', () => heard.text === 'one' && late.heard.text === 'two');
});

t.test('a reset is seen by both ends; a refusing link resets every connection', async (t) => {
  const { proxy, guests } = await echo(t);
  const { socket, heard } = await caller(t, proxy);
  socket.write('hello');
  await eventually('the greeting arrives', () => heard.text === 'hello');
  t.equal(proxy.reset(), 1);
  await eventually('the connection is reset on both sides', () => heard.error === 'ECONNRESET' && guests.size === 0);
  proxy.set({ refuse: true });
  const late = connect(proxy.port, '127.0.0.1');
  const [error] = await once(late, 'error');
  t.equal(error.code, 'ECONNRESET');
  t.equal(proxy.connections, 0);
});

t.test('half open: one end is gone, the other believes that it is heard', async (t) => {
  const { proxy, guests } = await echo(t);
  const { socket, heard } = await caller(t, proxy);
  socket.write('hello');
  await eventually('the greeting arrives', () => heard.text === 'hello');
  t.equal(proxy.halfOpen(), 1);
  await eventually('the server has no connection', () => guests.size === 0);
  await new Promise<void>((resolve) => socket.write('anybody?', () => resolve()));
  const next = await caller(t, proxy);
  next.socket.write('new');
  await eventually('a new connection is answered', () => next.heard.text === 'new');
  t.same(heard, { text: 'hello', pieces: heard.pieces, ended: false, error: '' });
  socket.destroy();
  next.socket.destroy();
  await eventually('the proxy has no connection', () => proxy.connections === 0);
});

t.test('a target that is away, or elsewhere', async (t) => {
  const { proxy } = await echo(t);
  const there = proxy.target;
  proxy.target = { host: '127.0.0.1', port: 1 };
  const lost = connect(proxy.port, '127.0.0.1');
  const [error] = await once(lost, 'error');
  t.equal(error.code, 'ECONNRESET');
  proxy.target = there;
  const { socket, heard } = await caller(t, proxy);
  socket.write('back');
  await eventually('the delayed text arrives', () => heard.text === 'back');
});
