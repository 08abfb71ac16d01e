import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import t, { type Test } from 'tap';
import { openRegistry, RegistryError, type RegistryTimeouts } from '../src/registry.ts';

// The registry is a border we do not own: whatever it does, a listing comes back or an error that repeats none of it.

type Handler = (request: IncomingMessage, response: ServerResponse) => void;

async function serve(t: Test, handler: Handler): Promise<string> {
  const server = createServer(handler);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

function registryAt(t: Test, address: string, timeouts?: Partial<RegistryTimeouts>) {
  const registry = openRegistry(address, timeouts);
  t.teardown(() => registry[Symbol.asyncDispose]());
  return registry;
}

const GOOD = { count: 2, model_count: 1, variants: [{ model: 'a', anything: { goes: [true] } }, { model: 'a' }] };

t.test('parameters go upstream as text, beside those of the address', async (t) => {
  const asked: string[] = [];
  const url = await serve(t, (request, response) => {
    asked.push(`${request.method} ${request.url} ${request.headers.authorization ?? ''}`);
    response.end(JSON.stringify(GOOD));
  });
  const registry = registryAt(t, `${url.replace('//', '//user:pa%3Ass@')}/v1/list?tier=gold`);
  const nasty = 'a&b=c#d @evil\r\nX: 1/../..';
  const found = await registry.list(new URLSearchParams({ limit: '5', org: nasty }));
  t.same(found, { variants: GOOD.variants, modelCount: 1, count: 2 });
  const credentials = `Basic ${btoa('user:pa:ss')}`;
  const query = new URLSearchParams({ tier: 'gold', limit: '5', org: nasty });
  t.same(asked, [`GET /v1/list?${query} ${credentials}`]);
  t.equal(new URL(asked[0]!.split(' ')[1]!, url).searchParams.get('org'), nasty);
});

t.test('counts may be missing', async (t) => {
  const url = await serve(t, (_request, response) => response.end('{"variants":[],"model_count":null}'));
  t.same(await registryAt(t, url).list(new URLSearchParams()), { variants: [], modelCount: null, count: null });
});

const BAD: [what: string, handler: Handler][] = [
  ['an error', (_, response) => response.writeHead(500).end('SECRET')],
  ['a refusal', (_, response) => response.writeHead(400).end('{"error":"SECRET"}')],
  ['a redirect', (_, response) => response.writeHead(302, { location: 'http://127.0.0.1:1/SECRET' }).end()],
  ['no content', (_, response) => response.writeHead(204).end()],
  ['a page', (_, response) => response.writeHead(200, { 'content-type': 'text/html' }).end('<p>SECRET')],
  ['half a body', (_, response) => response.end('{"variants":[{"SECRET":')],
  ['an error in a 200', (_, response) => response.end('{"error":"SECRET"}')],
  ['a list', (_, response) => response.end('["SECRET"]')],
  ['null', (_, response) => response.end('null')],
  ['rows that are none', (_, response) => response.end('{"variants":["SECRET"]}')],
  ['a null row', (_, response) => response.end('{"variants":[{},null]}')],
  ['variants that are no list', (_, response) => response.end('{"variants":{"SECRET":1}}')],
  ['a count that is none', (_, response) => response.end('{"variants":[],"model_count":"SECRET"}')],
  ['a negative count', (_, response) => response.end('{"variants":[],"count":-1}')],
  ['too much', (_, response) => response.end(JSON.stringify({ variants: [{ SECRET: 'x'.repeat(2_200_000) }] }))],
  ['a closed connection', (_, response) => response.destroy()],
  [
    'a connection that closes in the middle',
    (_, response) => {
      response.writeHead(200, { 'content-length': '1000' });
      response.write('{"variants":[', () => response.destroy());
    },
  ],
];

for (const [what, handler] of BAD)
  t.test(`${what} is an error that says nothing of it`, async (t) => {
    const error = await registryAt(t, await serve(t, handler))
      .list(new URLSearchParams())
      .then(
        () => t.fail('it was taken for a listing'),
        (error) => error,
      );
    t.type(error, RegistryError);
    t.notMatch(`${error.message} ${error.cause}`, /SECRET/);
  });

t.test('more than 2 MB is not read to its end', async (t) => {
  let sent = 0;
  const closed = Promise.withResolvers<void>();
  const url = await serve(t, (_request, response) => {
    const piece = Buffer.alloc(64 * 1024, ' ');
    const more = () => {
      while (!response.destroyed && response.write(piece)) sent += piece.length;
      sent += piece.length;
    };
    response.on('drain', more).on('error', () => {});
    response.on('close', () => closed.resolve());
    more();
  });
  await t.rejects(registryAt(t, url).list(new URLSearchParams()), RegistryError);
  await closed.promise;
  t.ok(sent < 50_000_000, `${sent} bytes were sent before the line was cut`);
});

t.test('a registry that is slow, silent or away is given up', async (t) => {
  const silent = await serve(t, () => {});
  const drips = await serve(t, (_request, response) => {
    const timer = setInterval(() => response.write(' '), 5);
    response.on('close', () => clearInterval(timer));
  });
  const brief = { connectMs: 1_000, firstByteMs: 100, idleMs: 100, totalMs: 200 };
  for (const url of [silent, drips, 'http://127.0.0.1:1'])
    await t.rejects(registryAt(t, url, brief).list(new URLSearchParams()), RegistryError, url);
});
