import { type AddressInfo, createServer, type Socket } from 'node:net';
import { eventually } from '@eloquentpoll/testkit/eventually';
import t, { type Test } from 'tap';
import { startFullLoad } from '../src/bench/full-load.ts';
import { requestBytes } from '../src/bench/http-bytes.ts';

// The load of the bench is what it says: each of so many connections is busy until the end, or the measurement fails.

const ANSWER = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok';
const CONNECTIONS = 3;
const next = () => requestBytes('GET', '/');

/** Answers every request. */
async function answeringServer(t: Test) {
  const sockets: Socket[] = [];
  const server = createServer((socket) => {
    sockets.push(socket);
    socket.on('error', () => {});
    socket.on('data', () => void socket.write(ANSWER));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return { sockets, port: (server.address() as AddressInfo).port };
}

t.test('every connection asks again as soon as it is answered', async (t) => {
  const { sockets, port } = await answeringServer(t);
  const load = await startFullLoad({ port, connections: CONNECTIONS, next });
  await eventually('some answers', () => load.answered > 10 * CONNECTIONS);
  await load[Symbol.asyncDispose]();
  t.equal(sockets.length, CONNECTIONS);
  t.same([...load.statuses], [[200, load.answered]]);
});

t.test('a load in which a connection broke fails at its end, however long ago that was', async (t) => {
  const { sockets, port } = await answeringServer(t);
  const load = await startFullLoad({ port, connections: CONNECTIONS, next });
  await eventually('all are connected', () => load.answered > CONNECTIONS);
  sockets[0]!.destroy();
  const { answered } = load;
  await eventually('the others are answered', () => load.answered > answered + 10 * CONNECTIONS);
  await t.rejects(async () => load[Symbol.asyncDispose](), { message: /closed before its answer/ });
});
