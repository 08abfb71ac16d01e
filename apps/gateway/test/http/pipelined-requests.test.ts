import { once } from 'node:events';
import { type AddressInfo, connect } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { MAX_UNANSWERED } from '../../src/http/hooks/pipelined-requests.ts';
import { build } from '../fixtures/build.ts';

// slow: 4 s

const REQUEST = 'GET /api/health HTTP/1.1\r\nHost: x\r\n\r\n';

const DOCUMENT = 'GET /api/openapi.json HTTP/1.1\r\nHost: x\r\n\r\n';

async function server(t: Test) {
  const { app } = await build(t);
  let handled = 0;
  const count = (): void => {
    handled += 1;
  };
  app.server.on('request', count).on('checkExpectation', count);
  await app.listen({ host: '127.0.0.1', port: 0 });
  const { port } = app.server.address() as AddressInfo;
  async function open() {
    const client = connect(port, '127.0.0.1');
    t.teardown(() => client.destroy());
    await once(client, 'connect');
    return client;
  }
  return { open, handled: () => handled };
}

t.test('as many as allowed are answered in their order, again and again', async (t) => {
  const { open } = await server(t);
  const client = await open();
  let text = '';
  client.on('data', (chunk) => {
    text += chunk;
  });
  for (let round = 1; round <= 3; round++) {
    client.write(REQUEST.repeat(MAX_UNANSWERED));
    while ((text.match(/HTTP\/1\.1 200/g) ?? []).length < round * MAX_UNANSWERED) await wait(10);
  }
  t.notMatch(text, /HTTP\/1\.1 400/);
});

t.test('one more is refused with the reason, and the connection is closed', async (t) => {
  const { open } = await server(t);
  const client = await open();
  client.write(REQUEST.repeat(MAX_UNANSWERED + 2));
  let text = '';
  for await (const chunk of client) text += chunk;
  t.equal((text.match(/HTTP\/1\.1 200/g) ?? []).length, MAX_UNANSWERED);
  t.equal((text.match(/HTTP\/1\.1 400/g) ?? []).length, 1);
  t.match(text, /At most 16 requests of one connection/);
});

for (const [kind, request] of Object.entries({
  'that are served': REQUEST,
  'whose paths cannot be decoded': 'GET /%zz HTTP/1.1\r\nHost: x\r\n\r\n',
  'with an unknown expectation': 'GET / HTTP/1.1\r\nHost: x\r\nExpect: x\r\n\r\n',
}))
  t.test(`of a thousand requests ${kind} in one piece, those above the limit are not kept`, async (t) => {
    const { open, handled } = await server(t);
    const client = await open();
    // What arrives after the connection was closed is answered by the kernel, with a reset.
    client.on('error', () => {});
    client.resume();
    client.write(request.repeat(1_000));
    await new Promise((resolve) => client.once('close', resolve));
    t.equal(handled(), MAX_UNANSWERED + 1);
  });

t.test('nor of those that arrive while the answers are not read', async (t) => {
  const { open, handled } = await server(t);
  const client = await open();
  client.on('error', () => {});
  client.pause();
  client.write(DOCUMENT.repeat(1_000));
  while (handled() < MAX_UNANSWERED + 1) await wait(10);
  client.write(DOCUMENT.repeat(100));
  await wait(200);
  t.equal(handled(), MAX_UNANSWERED + 1);
});
