import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import http from 'node:http';
import { createAccount, creditAccount, findPoll, insertKey, openStorage } from '@eloquentpoll/storage';
import { eventually } from '@eloquentpoll/testkit/eventually';
import t, { type Test } from 'tap';
import { apiKeyPrefix, hashApiKey, newApiKey } from '../../src/accounts/keys/api-key.ts';
import { readStream } from '../fixtures/read-stream.ts';
import { goodEnvironment, start } from '../fixtures/run-gateway.ts';

// slow: 10 s

const POLL = { question: 'Which is larger?', options: ['The Sun', 'The Moon'] };

/** A gateway process, a funded account and no worker, so that requests which wait for a poll go on waiting. */
async function waitingGateway(t: Test, more: Record<string, string>) {
  const env = await goodEnvironment(t);
  const run = start(t, { ...env, OPS_PORT: '0', ...more });
  const storage = openStorage({ databaseUrl: env.DATABASE_URL!, connectTimeoutMs: 30_000 });
  t.teardown(() => storage[Symbol.asyncDispose]());
  const accountId = await createAccount(storage);
  await creditAccount(storage, { accountId, amountU: 10_000_000n, source: 'operator', idem: randomUUID() });
  const key = newApiKey();
  await insertKey(storage, { accountId, hash: hashApiKey(env.KEY_PEPPER!, key), prefix: apiKeyPrefix(key) });
  const ready = JSON.parse(await run.line(/"msg":"ready"/));
  const origin = `http://127.0.0.1:${ready.port}`;
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  const post = (path: string) => fetch(`${origin}${path}`, { method: 'POST', headers, body: JSON.stringify(POLL) });
  return { run, storage, origin, headers, post, ops: ready.ops_url as string };
}

/** A request whose body does not come; the server has begun with it. */
async function neverEnding(t: Test, origin: string, authorization: string): Promise<void> {
  const request = http.request(`${origin}/api/polls`, {
    method: 'POST',
    headers: { authorization, 'content-type': 'application/json', 'content-length': '100', expect: '100-continue' },
  });
  t.teardown(() => request.destroy());
  request.on('error', () => {}).flushHeaders();
  await once(request, 'continue');
}

t.test('SIGTERM: readiness turns 503 at once, requests are served for the drain delay', async (t) => {
  const { run, origin, ops } = await waitingGateway(t, { DRAIN_DELAY_MS: '60000' });
  await eventually('it is ready', async () => (await fetch(`${ops}/readyz`)).ok);
  run.child.kill('SIGTERM');
  await run.line(/"msg":"draining"/);
  t.equal((await fetch(`${ops}/readyz`)).status, 503, 'not ready from the first moment on');
  t.equal((await fetch(`${ops}/livez`)).status, 200);
  const late = await fetch(`${origin}/api/health`);
  t.equal(late.status, 200);
  t.equal(late.headers.get('connection'), 'close', 'its client is asked to reconnect');
});

t.test(
  'SIGTERM with waiting callers: each gets its answer or a 503 with Retry-After, then the process exits in time',
  async (t) => {
    const { run, storage, origin, headers, post, ops } = await waitingGateway(t, { DRAIN_MS: '6000' });
    const session = JSON.parse(await (await post('/api/polls')).text());
    const longPoll = fetch(`${origin}/api/polls/${session.session_id}/status`, {
      headers: { ...headers, prefer: 'wait=30' },
    });
    const stream = await readStream(t, origin, { authorization: headers.authorization });
    const sync = post('/api/poll');
    const metric = async (line: string) => (await (await fetch(`${ops}/metrics`)).text()).includes(line);
    await eventually('three polls are waited for', () => metric('eloquentpoll_polls_watched 3'));
    await neverEnding(t, origin, headers.authorization);

    run.child.kill('SIGTERM');
    const answer = await longPoll;
    t.equal(answer.status, 200, 'a long poll is answered');
    t.match(await answer.json(), { status: 'running' });
    await stream.all();
    t.same(stream.retries, [3_000, 500], 'a stream ends with a short retry interval');
    const refused = await sync;
    t.equal(refused.status, 503, 'a request that waits for a poll gets a 503 at the end of the drain');
    t.ok(refused.headers.get('retry-after'));
    t.match(await refused.json(), { code: 'service_unavailable' });
    await run.line(/"msg":"drain.connections_cut"/);
    t.same(await run.ended, { code: 0, signal: null }, 'in good order, although a request never arrives as a whole');
    t.equal((await findPoll(storage, session.session_id))?.status, 'running', 'the poll goes on');
  },
);

t.test('SIGTERM without requests in flight: the process exits at once', async (t) => {
  const { run } = await waitingGateway(t, { DRAIN_MS: '300000' });
  run.child.kill('SIGTERM');
  t.same(await run.ended, { code: 0, signal: null });
});

t.test('what a gateway prints of its settings holds nothing that unlocks anything', async (t) => {
  const { run } = await waitingGateway(t, {
    ADMIN_TOKEN: 'an-admin-token-canary',
    COOKIE_SECRETS: `cookie-canary-${'x'.repeat(32)}`,
    OTEL_EXPORTER_OTLP_ENDPOINT: 'http://user:otel-canary@127.0.0.1:1/path-canary',
    OTEL_EXPORTER_OTLP_HEADERS: 'authorization=header-canary',
    LOG_LEVEL: 'info',
  });
  const { settings } = JSON.parse(await run.line(/"msg":"settings"/));
  t.match(settings, {
    KEY_PEPPER: 'set',
    ADMIN_TOKEN: 'set',
    COOKIE_SECRETS: 'set',
    OTEL_EXPORTER_OTLP_HEADERS: 'set',
    OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:1',
    MODELS_FILE: 'simulator',
    LOG_LEVEL: 'info',
  });
  t.match(settings.DATABASE_URL, /^postgres(ql)?:\/\/[\w.:]+\/\w+$/);
  t.notMatch(run.out.join('\n'), /canary|pppp/);
});
