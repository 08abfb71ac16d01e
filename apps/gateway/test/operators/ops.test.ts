import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { METRICS, openLog } from '@eloquentpoll/ops';
import { checkLedgerInTurn, claimScan } from '@eloquentpoll/storage';
import { eventually } from '@eloquentpoll/testkit/eventually';
import { fakeStripe } from '@eloquentpoll/testkit/fakes/stripe';
import t, { type Test } from 'tap';
import { keepBatchesRunning } from '../../src/batches/run/keep-batches-running.ts';
import { openOps } from '../../src/operators/open-ops.ts';
import { movementsScan } from '../../src/payments/card/compare-movements.ts';
import { build } from '../fixtures/build.ts';
import { plantAudits } from '../fixtures/planted-audits.ts';
import { standInWorker } from '../fixtures/stand-in-worker.ts';

// slow: 3 s

const ON = { ops: { host: '127.0.0.1', port: 0 } };

async function withOps(t: Test, given: Parameters<typeof build>[1] = {}) {
  const gateway = await build(t, { ...ON, ...given });
  await gateway.app.listen({ host: '127.0.0.1', port: 0 });
  const ops = await openOps(gateway.context, gateway.app);
  if (!ops) throw new Error('there is no ops port');
  t.teardown(() => ops[Symbol.asyncDispose]());
  const get = async (path: string) => {
    const response = await fetch(`${ops.url}${path}`);
    return { status: response.status, type: response.headers.get('content-type'), body: await response.text() };
  };
  return { ...gateway, ops, get };
}

/** Readings that take too long are left out of an answer: the first answer that has this line. */
const scraped = (get: Awaited<ReturnType<typeof withOps>>['get'], line: string) =>
  eventually(`metrics have ${line}`, async () => {
    const answer = await get('/metrics');
    return answer.body.split('\n').includes(line) && answer;
  });

t.test('requests are counted by operation, status and error code', async (t) => {
  const { app, context, keyWith, get, log } = await withOps(t);
  await standInWorker(t, context);
  const { bearer } = await keyWith(1);
  const payload = { question: 'Which is larger?', options: ['The Sun', 'The Moon'] };
  t.equal((await app.inject({ method: 'POST', url: '/api/poll', headers: bearer, payload })).statusCode, 200);
  t.equal((await app.inject({ method: 'POST', url: '/api/polls', payload })).statusCode, 401);
  t.equal((await app.inject({ url: '/nowhere/secret' })).statusCode, 404);
  const message = {
    messageId: 'm',
    role: 'ROLE_USER',
    parts: [{ data: { ...payload, question: `${payload.question} Really?` } }],
  };
  const poor = await app.inject({
    method: 'POST',
    url: '/api/a2a/tasks/send',
    headers: (await keyWith(0)).bearer,
    payload: { jsonrpc: '2.0', id: 1, method: 'SendMessage', params: { message } },
  });
  t.equal(poor.statusCode, 402);
  const answered = log.map((line) => JSON.parse(line)).find((line) => line.status === 402);
  t.match(answered, { route: '/api/a2a/tasks/send', code: 'insufficient_balance' });
  const { status, type, body } = await scraped(get, 'eloquentpoll_ready_check{check="postgres"} 1');
  t.equal(status, 200);
  t.equal(type, 'text/plain; version=0.0.4; charset=utf-8');
  for (const line of [
    'eloquentpoll_http_requests_total{operation="createPoll",status="200"} 1',
    'eloquentpoll_http_requests_total{operation="createSession",status="401"} 1',
    'eloquentpoll_http_requests_total{operation="none",status="404"} 1',
    'eloquentpoll_http_request_duration_seconds_count{operation="createPoll"} 1',
    'eloquentpoll_http_errors_total{code="authentication_required"} 1',
    'eloquentpoll_http_errors_total{code="insufficient_balance"} 1',
    'eloquentpoll_polls_accepted_total{panel="broad"} 1',
    'eloquentpoll_ready_check{check="postgres"} 1',
  ])
    t.ok(body.split('\n').includes(line), line);
  t.notMatch(body, /secret/, 'no path');
});

t.test('/metrics contains every gateway metric of the table', async (t) => {
  const { settings: checkout } = await fakeStripe(t);
  const { app, context, get } = await withOps(t, { checkout });
  openLog(context.metrics, 'silent');
  await using _ = keepBatchesRunning(context);
  await checkLedgerInTurn(context.storage, 60_000);
  await claimScan(context.storage, movementsScan(context.config), async () => 1n);
  await app.inject({ url: '/api/no-such-page' });
  const { body } = await scraped(get, 'eloquentpoll_ledger_violations 0');
  t.same(context.metrics.unused(), []);
  for (const [name, { on, type }] of Object.entries(METRICS)) {
    if (!on.some((process) => process === 'gateway')) continue;
    t.ok(body.includes(`# TYPE ${name} ${type}\n`), name);
  }
  t.match(body, /^eloquentpoll_ledger_violations 0$/m);
  t.match(body, /^eloquentpoll_part_configured\{part="cards"\} 1$/m);
  t.match(body, /^eloquentpoll_part_configured\{part="usdc"\} 0$/m);
  t.match(body, /^eloquentpoll_reconciliation_interval_seconds\{round="checkouts"\} 900$/m);
  t.notMatch(body, /^eloquentpoll_reconciliation_interval_seconds\{round="deposits"\}/m, 'nothing to compare');
  t.notMatch(body, /^eloquentpoll_free_pool_remaining_usd /m, 'nothing of today is spent, so no alarm that it is');
});

t.test('panels are watched with web search and without', async (t) => {
  const { get, ...gateway } = await withOps(t);
  await plantAudits(gateway, { polls: 20, wrongEvery: 5, search: true });
  const { body } = await scraped(get, 'eloquentpoll_audited_stops{panel="broad_search"} 20');
  t.match(body, /^eloquentpoll_audited_stops\{panel="broad_search"\} 20$/m);
  t.match(body, /^eloquentpoll_audited_stops_wrong\{panel="broad_search"\} 4$/m);
  t.match(body, /^eloquentpoll_audited_stops\{panel="broad"\} 0$/m);
  const alarms = body.match(/(?<=^eloquentpoll_panel_alarm\{panel=")\w+/gm) ?? [];
  t.same(alarms.toSorted(), [
    ...['broad', 'broad_search', 'fast', 'fast_search', 'free', 'free_search', 'strong', 'strong_search'],
  ]);
});

t.test('a gateway is ready while its database answers, and not ready once it drains', async (t) => {
  const { ops, get } = await withOps(t);
  const ready = await get('/readyz');
  t.equal(ready.status, 200, ready.body);
  ops.readiness.drain();
  const leaving = await get('/readyz');
  t.equal(leaving.status, 503);
  t.match(JSON.parse(leaving.body), { ready: false, checks: { postgres: null, draining: /shutting down/ } });
  t.equal((await get('/livez')).status, 200, 'it lives on');
  t.equal((await get('/api/health')).status, 404, 'the public operations are not here');
});

t.test('without Postgres a gateway is not ready; without Redis it is ready and reports the failed check', async (t) => {
  const withoutPostgres = await withOps(t);
  await withoutPostgres.context.storage[Symbol.asyncDispose]();
  const first = await withoutPostgres.get('/readyz');
  t.equal(first.status, 503);
  t.match(JSON.parse(first.body), { ready: false, checks: { postgres: 'does not answer', redis: null } });
  t.notMatch(first.body, /127\.0\.0\.1|ECONN/, 'nothing of where it is');

  const withoutRedis = await withOps(t);
  withoutRedis.context.bus.redis.disconnect();
  const second = await withoutRedis.get('/readyz');
  t.equal(second.status, 200);
  t.match(JSON.parse(second.body), { ready: true, checks: { postgres: null, redis: 'does not answer' } });
});

t.test('LOG_SAMPLE samples successful requests in the access log; every failure is logged', async (t) => {
  const { app, log } = await build(t, { logSample: 0.25 });
  for (let i = 0; i < 8; i++) await app.inject({ url: '/api/health' });
  for (let i = 0; i < 3; i++)
    await app.inject({ url: '/api/no-such-page', headers: { 'x-request-id': `req_sampled_${i}` } });
  const requests = log.map((line) => JSON.parse(line)).filter(({ msg }) => msg === 'request.answered');
  t.equal(requests.filter(({ status }) => status < 400).length, 2);
  const refused = requests.filter(({ status }) => status === 404);
  t.same(
    refused.map(({ request_id, code }) => [request_id, code]),
    [0, 1, 2].map((i) => [`req_sampled_${i}`, 'not_found']),
  );
});

t.test('a name that a stranger can point at the ops port is answered 421', async (t) => {
  const { ops } = await withOps(t);
  const { port } = new URL(ops.url);
  const statusFor = async (host: string): Promise<number | undefined> => {
    const asked = request(`${ops.url}/metrics`, { headers: { host }, agent: false });
    asked.end();
    const [answer] = (await once(asked, 'response')) as [IncomingMessage];
    answer.resume();
    return answer.statusCode;
  };
  for (const host of [
    'evil.example',
    `127.0.0.1.evil.example:${port}`,
    'localhost.evil.example',
    'a b',
    '@evil.example',
  ])
    t.equal(await statusFor(host), 421, host);
  for (const host of [`127.0.0.1:${port}`, `[::1]:${port}`, `localhost:${port}`, 'gateway:9090', '10.1.2.3'])
    t.equal(await statusFor(host), 200, host);
});
