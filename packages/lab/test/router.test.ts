import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { newApiKey } from '@eloquentpoll/gateway/api-key';
import { accountTag, newResultId, routeOf } from '@eloquentpoll/polls';
import { eventually } from '@eloquentpoll/testkit/eventually';
import t, { type Test } from 'tap';
import { startRouter } from '../src/cells/router.ts';

// The shipped configuration of the router, before two servers that say what reached them.

const ACCOUNT = '00000000-0000-4000-8000-00000000abcd';

/** Answers with its cell, the method and the body. A path that begins with /moved leads to the other cell. */
async function echo(t: Test, cell: string): Promise<number> {
  const server = createServer((incoming, response) => {
    void bodyOf(incoming).then((body) => {
      if (incoming.url?.startsWith(`/moved-from-${cell}`))
        response.writeHead(503, { 'x-accel-redirect': `@ep_cell_${1 - Number(cell)}`, 'retry-after': '1' });
      response.end(`${cell} ${incoming.method} ${body}${incoming.headers.authorization ? ' with a bearer' : ''}`);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => server.close());
  return (server.address() as AddressInfo).port;
}

async function bodyOf(incoming: IncomingMessage): Promise<string> {
  let text = '';
  for await (const piece of incoming.setEncoding('utf8')) text += piece;
  return text;
}

/** The table of the gateways, which they compare with their routes when they start. */
function routeRows(): { method: string; path: string; callers: string }[] {
  const table = readFileSync(new URL('../../../apps/gateway/src/routes.ts', import.meta.url), 'utf8');
  const row = /\[\s*'(GET|POST|PUT|PATCH|DELETE)',\s*'([^']+)',\s*'\w+',\s*'([^']+)'/g;
  return [...table.matchAll(row)].map(([, method = '', path = '', callers = '']) => ({ method, path, callers }));
}

/** Anyone may call these and they name no result. Any cell gives the same answer. */
const ALIKE = [
  'GET /api/profiles',
  'GET /.well-known/jwks.json',
  'GET /api/graph/node-spec',
  'GET /api/intents',
  'POST /api/intents/match',
  'GET /v1/models',
  'GET /v1/models/:model',
  'GET /.well-known/agent-card.json',
  'GET /.well-known/agent.json',
  'GET /api/agent-card',
  'GET /.well-known/mcp/server-card.json',
  'GET /api/mcp/server-card',
  'GET /api/openapi.json',
  'GET /api/docs',
  'GET /api/errors/catalog',
  'GET /errors/:code',
  'GET /.well-known/openid-configuration',
  'GET /.well-known/oauth-protected-resource',
  'GET /.well-known/oauth-protected-resource/api/mcp',
  'GET /api/surfaces',
  'POST /api/tools/list_surfaces',
  'POST /api/tools/get_surface',
  'GET /api/examples',
  'GET /api/examples/:language',
  'GET /eloquentpoll.ts',
  'GET /eloquentpoll.py',
  'GET /.well-known/api-catalog',
  'GET /api/routing-descriptions.json',
  'GET /asyncapi.json',
  'GET /.well-known/ai-plugin.json',
  'GET /llms.txt',
  'GET /llms-full.txt',
  'GET /robots.txt',
  'GET /sitemap.xml',
  'GET /.well-known/agent-skills/index.json',
  'GET /',
  'GET /playground',
  'POST /playground',
  'GET /connect',
  'GET /guides/:guide',
  'GET /surfaces',
];
/** Cell 0 answers, or leads to the cell that has the account. */
const LED = [
  'POST /api/keys/redeem',
  'GET /api/auth/login',
  'GET /api/auth/callback',
  'GET /api/auth/logout',
  'POST /api/deposit',
  'GET /api/wallet/challenge',
  'POST /api/wallet/verify',
  'POST /api/wallet/revoke-key',
  'POST /api/wallet/delete-account',
  'POST /api/wallet/rotate-key',
];
/** Figures, seals and payments of the cell that is asked: that of the caller or the host name, else cell 0. */
const PER_CELL = [
  'GET /api/poll/estimate',
  'GET /api/receipts/days',
  'POST /api/webhooks/stripe',
  'GET /api/health',
  'GET /api/models',
  'GET /api/reputation',
  'GET /api/reputation/models',
  'GET /api/calibration',
  'GET /api/calibration.csv',
  'GET /models',
  'GET /models/:model',
  'GET /trust',
  'GET /pricing',
];
const OF_ANYONE = new Set([...ALIKE, ...LED, ...PER_CELL]);

interface Asked {
  path?: string;
  method?: string;
  headers?: Record<string, string>;
  body?: string;
}

t.test('the router', async (t) => {
  await using router = await startRouter({
    folder: t.testdir({}),
    ports: [await echo(t, '0'), await echo(t, '1')],
  });

  async function ask({ path = '/api/balance', method = 'GET', headers = {}, body = '' }: Asked): Promise<string> {
    const outgoing = request({ host: '127.0.0.1', port: router.port, path, method, headers });
    outgoing.end(body);
    const [answer] = (await once(outgoing, 'response')) as [IncomingMessage];
    return `${answer.statusCode} ${await bodyOf(answer)}`;
  }
  const cellOf = async (asked: Asked): Promise<string> => (await ask(asked)).split(' ')[1] ?? '';
  const bearer = (cell: string) => ({ authorization: `Bearer ${newApiKey({ cell, accountId: ACCOUNT })}` });
  const cookie = (route: string) => ({ cookie: `ep_session=x; ep_route=${route}` });
  const [result0, result1] = [newResultId('0'), newResultId('1')];

  await t.test('goes by key, cookie, public id and host name', async (t) => {
    const cases: [string, Asked, string][] = [
      ['a key of cell 0', { headers: bearer('0') }, '0'],
      ['a key of cell 1', { headers: bearer('1') }, '1'],
      ['a key before a cookie', { headers: { ...bearer('1'), ...cookie(routeOf('0', ACCOUNT)) } }, '1'],
      [
        'any case of bearer',
        { headers: { authorization: bearer('1').authorization.replace('Bearer', 'bEARER') } },
        '1',
      ],
      ['a cookie', { headers: cookie(routeOf('1', ACCOUNT)) }, '1'],
      [
        'a token, whatever the cookie',
        { headers: { authorization: 'Bearer ey.a.b', ...cookie(`1${'a'.repeat(8)}`) } },
        '0',
      ],
      ['a host', { headers: { host: 'c1.poll.example.com' } }, '1'],
      ['a key before a host', { headers: { ...bearer('0'), host: 'c1.poll.example.com' } }, '0'],
      ['nothing', {}, '0'],
      ['a cell that is not there', { headers: bearer('z') }, '0'],
      ['not quite a key', { headers: { authorization: `${bearer('1').authorization}x` } }, '0'],
      ['a result', { path: `/api/results/${result1}` }, '1'],
      ['a result, with any key', { path: `/api/results/${result1}`, headers: bearer('0') }, '1'],
      ['its receipt', { path: `/api/results/${result1}/receipt` }, '1'],
      ['its page', { path: `/result/${result1}?x=1` }, '1'],
      ['its diagram', { path: `/api/graph/mermaid/${result1}` }, '1'],
      ['the days of its receipt', { path: `/api/receipts/days?day=2026-11-20&result_id=${result1}` }, '1'],
      ['the days of no result', { path: '/api/receipts/days?result_id=EP-1', headers: bearer('1') }, '1'],
      ['another query', { path: `/api/receipts/days?result=${result1}` }, '0'],
      ['its feedback', { path: `/api/feedback/${result1}`, method: 'HEAD' }, ''],
      ['who deletes a result', { path: `/api/results/${result1}`, method: 'DELETE', headers: bearer('0') }, '0'],
      ['the list of results', { path: '/api/results/recent', headers: cookie(routeOf('1', ACCOUNT)) }, '1'],
      [
        'a free poll at a host',
        { path: '/api/quick-poll', method: 'POST', headers: { host: 'c1.poll.example.com' } },
        '1',
      ],
    ];
    for (const [name, asked, expected] of cases) t.equal(await cellOf(asked), expected, name);
    const free = await Promise.all([0, 1, 2].map(() => cellOf({ path: '/api/quick-poll', method: 'POST' })));
    t.equal(new Set(free).size, 1, 'free polls of one address stay together');
  });

  await t.test('shows a key to its own cell alone, as what is public needs none', async (t) => {
    const receipt = (result: string, headers: Record<string, string>) =>
      ask({ path: `/api/results/${result}/receipt`, headers });
    t.equal(await receipt(result1, bearer('1')), '200 1 GET  with a bearer', 'its owner, maybe');
    t.equal(await receipt(result1, bearer('0')), '200 1 GET ');
    t.equal(await receipt(result0, bearer('1')), '200 0 GET ');
    t.equal(await receipt(result1, { authorization: 'Bearer ey.a.b' }), '200 1 GET  with a bearer');
    t.equal(await ask({ headers: bearer('1') }), '200 1 GET  with a bearer');
  });

  await t.test('leads every route of the gateways to the cell that can answer it', async (t) => {
    const rows = routeRows();
    t.ok(rows.length > 100, `${rows.length} routes`);
    for (const { method, path, callers } of rows) {
      const name = `${method} ${path}`;
      const asked = { method, path: path.replace(/:(resultId|pollId)/, result1).replace(/:\w+/g, 'x') };
      const isPublic = method === 'GET' && path !== asked.path && asked.path.includes(result1);
      if (/key/.test(callers)) t.equal(await cellOf({ ...asked, headers: bearer('1') }), '1', `${name} by key`);
      if (/login/.test(callers))
        t.equal(await cellOf({ ...asked, headers: cookie(routeOf('1', ACCOUNT)) }), '1', `${name} by cookie`);
      if (isPublic)
        for (const headers of [{}, bearer('0'), cookie(routeOf('0', ACCOUNT))])
          t.equal(await cellOf({ ...asked, headers }), '1', `${name} by the id of a result`);
      else if (callers === 'anyone') t.ok(OF_ANYONE.has(name), `${name}: which cell answers it is decided`);
      OF_ANYONE.delete(name);
    }
    t.same([...OF_ANYONE.keys()], [], 'each of these is a route');
  });

  await t.test('lets files through where they are taken, and lists at the same address', async (t) => {
    const body = 'x'.repeat(200_000);
    for (const path of ['/api/batches', '/dashboard/batches', '/dashboard/batches/check']) {
      const sent = await ask({ path, method: 'POST', headers: bearer('1'), body });
      t.equal(sent, `200 1 POST ${body} with a bearer`, path);
      t.equal(await ask({ path, headers: bearer('1') }), '200 1 GET  with a bearer', path);
    }
    t.match(await ask({ path: '/api/poll', method: 'POST', headers: bearer('1'), body }), /^413 /);
  });

  await t.test('what each cell answers for itself is documented', async (t) => {
    const readme = readFileSync(new URL('../../../infra/cells/README.md', import.meta.url), 'utf8');
    for (const name of PER_CELL) t.ok(readme.includes(`\`${name.replace('GET ', '')}\``), name);
  });

  await t.test('sends a request on, once, where a gateway says that its account was moved', async (t) => {
    t.equal(await ask({ path: '/moved-from-0', method: 'POST', body: 'all of it' }), '200 1 POST all of it');
    t.equal(
      await ask({ path: '/moved-from-1', headers: bearer('1'), method: 'DELETE' }),
      '200 0 DELETE  with a bearer',
    );
  });

  await t.test('knows moved accounts and results by its maps', async (t) => {
    router.setMaps({ accounts: `${accountTag(ACCOUNT)} 1;\n`, results: `${result0} 1;\n` });
    await eventually('the maps are read', async () => (await cellOf({ headers: bearer('0') })) === '1');
    t.equal(await cellOf({ headers: cookie(routeOf('0', ACCOUNT)) }), '1');
    t.equal(await cellOf({ path: `/api/results/${result0}` }), '1');
    t.equal(await cellOf({ path: `/api/results/${newResultId('0')}` }), '0', 'another result');
    t.equal(await cellOf({ headers: { authorization: `Bearer ${newApiKey()}` } }), '0', 'another account');
  });
});
