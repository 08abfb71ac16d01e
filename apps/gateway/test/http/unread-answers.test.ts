import { once } from 'node:events';
import { type AddressInfo, connect } from 'node:net';
import { Readable } from 'node:stream';
import { fastify } from 'fastify';
import t, { type Test } from 'tap';
import { unreadAnswers } from '../../src/http/hooks/unread-answers.ts';

// slow: 8 s

// More than any kernel keeps for a connection.
const LARGE = 'x'.repeat(64 * 1_024 * 1_024);

async function server(t: Test, afterMs: number) {
  const app = fastify();
  app.register(unreadAnswers, { afterMs });
  app.get('/large', async () => LARGE);
  await app.listen({ host: '127.0.0.1', port: 0 });
  t.teardown(() => app.close());
  const accepted = once(app.server, 'connection');
  const client = connect((app.server.address() as AddressInfo).port, '127.0.0.1');
  t.teardown(() => client.destroy());
  client.on('error', () => {});
  const [socket] = await accepted;
  return { client, socket };
}

t.test('an answer that is not read is dropped', async (t) => {
  const { client, socket } = await server(t, 200);
  client.pause();
  const closed = once(socket, 'close');
  client.write('GET /large HTTP/1.1\r\nHost: x\r\n\r\n');
  await closed;
  t.ok(socket.destroyed);
});

t.test('one that is read slowly arrives, however long it takes', async (t) => {
  const { client } = await server(t, 4_000);
  client.write('GET /large HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');
  let bytes = 0;
  let pauses = 0;
  client.on('data', (chunk) => {
    bytes += chunk.length;
    if (bytes < (pauses + 1) * 1_000_000) return;
    pauses += 1;
    // Shorter than what gives up, together longer.
    client.pause();
    setTimeout(() => client.resume(), 100);
  });
  await once(client, 'close');
  t.ok(bytes > LARGE.length, `${bytes} bytes with ${pauses} pauses`);
});

t.test('a stream that answers a HEAD is not read, on whatever route', async (t) => {
  const app = fastify();
  app.register(unreadAnswers, {});
  let read = 0;
  const closed = Promise.withResolvers<void>();
  async function* chunks() {
    for (; read < 100; read++) yield 'x';
  }
  app.get('/stream', async (_request, reply) => {
    const stream = Readable.from(chunks(), { objectMode: false });
    stream.once('close', closed.resolve);
    return reply.type('text/plain').send(stream);
  });
  const head = await app.inject({ method: 'HEAD', url: '/stream' });
  t.match([head.statusCode, head.headers['content-type'], head.body], [200, 'text/plain', '']);
  t.notOk(head.headers['content-length']);
  await closed.promise;
  t.equal(read, 0);
  t.equal((await app.inject('/stream')).body.length, 100);
});
