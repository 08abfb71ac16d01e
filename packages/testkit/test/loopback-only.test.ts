import { createServer } from 'node:http';
import net from 'node:net';
import t from 'tap';
import '../src/loopback-only.ts';

// Tests that reach out would pass here and fail elsewhere, or show themselves to the world.

t.test('this machine is reached by every name it has', async (t) => {
  const server = createServer((_request, response) => response.end('here')).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  t.teardown(() => server.close());
  const address = server.address();
  const port = typeof address === 'object' ? address?.port : 0;
  for (const host of ['127.0.0.1', 'localhost'])
    t.equal(await (await fetch(`http://${host}:${port}`)).text(), 'here', host);
});

t.test('everything else is refused at once, and says why', async (t) => {
  for (const url of ['http://example.com', 'https://example.com', 'http://192.0.2.1'])
    await t.rejects(fetch(url), { cause: { message: /tests reach nothing beyond this machine/ } }, url);
  for (const options of [
    { port: 80, host: 'example.com' },
    { port: 80, host: '192.0.2.1' },
  ]) {
    const refusal = new Promise<Error>((resolve) => net.connect(options).once('error', resolve));
    t.match(await refusal, { code: 'ENETUNREACH' }, options.host);
  }
  const refusal = new Promise<Error>((resolve) => net.connect(80, '192.0.2.1').once('error', resolve));
  t.match(await refusal, { code: 'ENETUNREACH' }, 'host as second argument');
});
