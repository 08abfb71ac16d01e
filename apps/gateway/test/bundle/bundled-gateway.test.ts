import { dirname } from 'node:path';
import { appProgram } from '@eloquentpoll/services/app-program';
import { startApp } from '@eloquentpoll/services/start-app';
import { openThrowAwayGroup } from '@eloquentpoll/services/throw-away-group';
import { testDatabase } from '@eloquentpoll/testkit/database';
import { testRedis } from '@eloquentpoll/testkit/redis';
import { Wallet } from 'ethers';
import t, { type Test } from 'tap';
import { lazyImports, missingNames } from './lazy-chunks.ts';

// slow: 6 s

// The gateway as it is shipped: one bundle, whose rarer parts are chunks that are loaded when they are first used. Tests
// that build a gateway in their own process run the sources, where a package has all of its names however it is loaded.

const file = appProgram('gateway');

t.test('every chunk that is loaded when it is first used loads, and has the names that the code takes', async (t) => {
  t.match(file, /main\.js$/, 'it was bundled');
  const imports = lazyImports(dirname(file));
  const own = imports.filter(({ by }) => by === 'app.js');
  t.ok(own.length >= 20, `${own.length} places of our own load a chunk`);
  for (const one of imports) t.same(await missingNames(one), [], `${one.by} takes ${one.taken.join()} of ${one.chunk}`);
});

t.test('a bundled gateway: wallets, pages and documents', async (t) => {
  const home = await startGateway(t);
  const get = (path: string, headers: Record<string, string> = {}) => fetch(`${home}${path}`, { headers });

  await t.test('login with a wallet', async (t) => {
    const wallet = Wallet.createRandom();
    const challenge = await get(`/api/wallet/challenge?address=${wallet.address}`);
    t.equal(challenge.status, 200);
    const { message } = (await challenge.json()) as { message: string };
    const login = await fetch(`${home}/api/wallet/verify`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ message, signature: await wallet.signMessage(message) }),
    });
    t.equal(login.status, 200);
    const cookie = login.headers
      .getSetCookie()
      .map((line) => line.split(';')[0])
      .join('; ');
    const me = await get('/api/auth/me', { cookie });
    t.match(await me.json(), { email: `${wallet.address.toLowerCase()}@wallet.invalid` });
    t.equal((await get('/dashboard', { cookie, accept: 'text/html' })).status, 200);
  });

  await t.test('pages, with what they load', async (t) => {
    const page = await (await get('/?view=human')).text();
    const loaded = [...new Set([...page.matchAll(/(?:href|src)="(\/assets\/[^"]+)"/g)].map(([, path]) => path!))];
    t.ok(loaded.length > 3, `${loaded.length} files of its own`);
    for (const path of [...loaded, '/playground', '/api/docs', '/api/docs/reader.js', '/favicon.ico'])
      t.equal((await get(path, { accept: 'text/html' })).status, 200, path);
  });

  await t.test('documents and clients', async (t) => {
    for (const path of [
      '/api/openapi.json',
      '/asyncapi.json',
      '/llms-full.txt',
      '/eloquentpoll.ts',
      '/eloquentpoll.py',
    ]) {
      const answer = await get(path);
      t.equal(answer.status, 200, path);
      t.match(await answer.text(), 'http://localhost:8080', `${path} names the service`);
    }
    t.equal((await get('/.well-known/mcp/server-card.json')).status, 200);
  });

  await t.test('polls in shorthand: checked by a validator that was made for them', async (t) => {
    const refused = await fetch(`${home}/api/quick-poll`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{"question":1}',
    });
    t.equal(refused.status, 400);
    t.match(await refused.json(), { code: 'validation_error' });
  });
});

async function startGateway(t: Test): Promise<string> {
  const group = await openThrowAwayGroup('a bundled gateway');
  t.teardown(() => group[Symbol.asyncDispose]());
  const redis = testRedis(t);
  const { ready } = await startApp(group, {
    name: 'gateway',
    file,
    env: {
      DATABASE_URL: await testDatabase(t),
      REDIS_URL: redis.url,
      REDIS_PREFIX: redis.prefix,
      KEY_PEPPER: 'a pepper of at least 32 characters',
      BASE_URL: 'http://localhost:8080',
      PORT: '0',
    },
  });
  return `http://127.0.0.1:${ready.port}`;
}
