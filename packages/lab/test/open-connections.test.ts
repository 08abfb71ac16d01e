import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import t from 'tap';
import { connectedPorts, whoIsConnected } from '../src/attacks/open-connections.ts';

// Clients that read nothing are seen to be connected exactly as long as they are.

t.test('the table of the kernel is read by port and state', async (t) => {
  const table = [
    '  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode',
    '   0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 1 1 0 100 0 0 10 0',
    '   1: 0100007F:1F90 0100007F:C350 01 00000000:00000000 00:00000000 00000000     0        0 2 1 0 100 0 0 10 0',
    '   2: 0100007F:1F90 0100007F:C351 04 00000001:00000000 00:00000000 00000000     0        0 3 1 0 100 0 0 10 0',
    '   3: 0100007F:C351 0100007F:1F90 01 00000000:00000001 00:00000000 00000000     0        0 3 1 0 100 0 0 10 0',
    '   4: 0100007F:1F91 0100007F:C352 01 00000000:00000000 00:00000000 00000000     0        0 4 1 0 100 0 0 10 0',
    '',
  ].join('\n');
  t.same([...connectedPorts(table, 8080)], [0xc350], 'neither closed by the server, nor of another server');
});

t.test('a reader that reads nothing gets no event when it is disconnected, and is seen to be', async (t) => {
  const held: Socket[] = [];
  const server = createServer((socket) => {
    held.push(socket);
    socket.on('error', () => {});
    // More than the buffers of both ends hold, so that the end of the stream cannot reach the client.
    socket.write(Buffer.alloc(32 * 2 ** 20));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const clients = await Promise.all(
    Array.from({ length: 3 }, async () => {
      const socket = connect({ port, host: '127.0.0.1' });
      socket.on('error', () => {});
      socket.pause();
      await new Promise((resolve) => socket.once('connect', resolve));
      return socket;
    }),
  );
  while (held.length < clients.length) await new Promise((resolve) => setTimeout(resolve, 5));
  t.same(whoIsConnected(clients, port), [true, true, true]);
  const byPort = new Map(held.map((socket) => [socket.remotePort, socket]));
  byPort.get(clients[0]!.localPort)!.destroy();
  byPort.get(clients[1]!.localPort)!.resetAndDestroy();
  await new Promise((resolve) => setTimeout(resolve, 50));
  t.same(
    clients.map(({ destroyed }) => destroyed),
    [false, false, false],
    'Node does not say so',
  );
  t.same(whoIsConnected(clients, port), [false, false, true]);
  for (const socket of [...clients, ...held]) socket.destroy();
  await new Promise((resolve) => server.close(resolve));
});
