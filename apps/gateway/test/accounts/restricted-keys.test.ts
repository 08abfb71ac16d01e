import { randomUUID } from 'node:crypto';
import t from 'tap';
import { build } from '../fixtures/build.ts';
import { type Route, routesOf } from '../fixtures/routes.ts';
import { standInWorker } from '../fixtures/stand-in-worker.ts';

// slow: 3 s

// What a key may not do that its owner gave less than everything. The routes come from the router: a new one that takes
// a key and writes refuses a read-only key without being named here.

type Headers = Record<string, string>;

const gateway = await build(t, { webhooks: { sealingKeys: ['s'.repeat(32)], toLoopback: false } });
const { app, context } = gateway;
await standInWorker(t, context);

const ORDER = { question: 'Which of these is the best choice?', options: ['A', 'B'] };
const HOOK = { url: 'https://app.example.com/hooks', event_types: ['poll.completed'] };
const rpc = (method: string, params: object) => ({ jsonrpc: '2.0', id: 1, method, params });

const owner = await gateway.keyWith(5);
const session = await gateway.sessionFor(owner.accountId);

async function keyOf(terms: object): Promise<{ id: string; bearer: Headers }> {
  const made = await app.inject({ method: 'POST', url: '/api/keys', headers: session, payload: terms });
  t.equal(made.statusCode, 201, JSON.stringify(terms));
  return { id: made.json().id, bearer: { authorization: `Bearer ${made.json().key}` } };
}

/** Unsafe methods that a read-only key may use; what it may ask them is in a test of its own. */
const READS = ['POST /api/poll/dry-run', 'POST /api/mcp', 'POST /api/a2a/tasks/send'];

/** Its answer lets messages be made up. */
const SECRET = 'GET /api/webhook-endpoints/{endpointId}/secret';

const SAFE = ['GET', 'HEAD', 'OPTIONS'];

async function routesWithKeys(): Promise<Route[]> {
  const { paths } = (await app.inject('/api/openapi.json')).json();
  const takesKey = ({ method, path }: Route) =>
    paths[path]?.[method.toLowerCase()]?.security?.some((one: object) => 'apiKey' in one) ?? false;
  return (await routesOf(context)).filter(takesKey);
}

const pathOf = ({ path }: Route): string =>
  path.replace('{keyId}', randomUUID()).replaceAll(/\{\w+\}/g, 'ps_00000000000000000000000000000000');

t.test('a read-only key is refused by every route that writes, and by none that reads', async (t) => {
  const { bearer } = await keyOf({ read_only: true });
  const routes = await routesWithKeys();
  const before = (await app.inject({ url: '/api/polls', headers: bearer })).json();
  let refused = 0;
  for (const route of routes) {
    const name = `${route.method} ${route.path}`;
    if (READS.includes(name)) continue;
    const isSafe = SAFE.includes(route.method);
    const payload = isSafe ? {} : { payload: { ...ORDER, models: [], label: 'x' } };
    const request = { method: route.method as 'GET', url: pathOf(route), headers: bearer, ...payload };
    const answer = await app.inject(request);
    if (isSafe) t.equal(answer.statusCode === 403, name === SECRET, name);
    else {
      t.equal(answer.statusCode, 403, name);
      t.match(answer.body, /read_only_key|may read/, name);
      refused++;
    }
  }
  t.ok(refused >= 13, `${refused} routes refuse it`);
  t.same((await app.inject({ url: '/api/polls', headers: bearer })).json(), before, 'no poll was made');
  for (const name of READS)
    t.ok(
      routes.some(({ method, path }) => `${method} ${path}` === name),
      name,
    );
});

t.test('over MCP and A2A a read-only key reads and neither asks nor cancels', async (t) => {
  const { bearer } = await keyOf({ read_only: true });
  const headers = { ...bearer, accept: 'application/json, text/event-stream' };
  const mcp = async (method: string, params: object) =>
    (await app.inject({ method: 'POST', url: '/api/mcp', headers, payload: rpc(method, params) })).body;
  t.match(await mcp('tools/call', { name: 'get_balance', arguments: {} }), /balance_cents/);
  t.match(await mcp('tools/call', { name: 'poll_question', arguments: ORDER }), /read_only_key/);
  t.match(await mcp('tools/list', {}), /poll_question/);
  const envelope = {
    _meta: {
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientInfo': { name: 'x', version: '1' },
      'io.modelcontextprotocol/clientCapabilities': { extensions: { 'io.modelcontextprotocol/tasks': {} } },
    },
  };
  const modern = {
    ...headers,
    'mcp-protocol-version': '2026-07-28',
    'mcp-method': 'tools/call',
    'mcp-name': 'poll_question',
  };
  const asTask = rpc('tools/call', { name: 'poll_question', arguments: ORDER, ...envelope });
  t.match(
    (await app.inject({ method: 'POST', url: '/api/mcp', headers: modern, payload: asTask })).body,
    /read_only_key/,
  );
  const ofTasks = (method: string, name: string, params: object, as: Headers) => {
    const _meta = {
      ...envelope._meta,
      'io.modelcontextprotocol/clientCapabilities': { extensions: { 'io.modelcontextprotocol/tasks': {} } },
    };
    const sent = { ...modern, ...as, 'mcp-method': method, 'mcp-name': name };
    return app.inject({ method: 'POST', url: '/api/mcp', headers: sent, payload: rpc(method, { ...params, _meta }) });
  };
  const started = await ofTasks(
    'tools/call',
    'poll_question',
    { name: 'poll_question', arguments: ORDER },
    owner.bearer,
  );
  const { taskId } = started.json().result;
  t.match((await ofTasks('tasks/get', taskId, { taskId }, bearer)).json(), { result: { taskId } }, 'it reads a task');
  const canceled = await ofTasks('tasks/cancel', taskId, { taskId }, bearer);
  t.match(canceled.body, /may read|read-only/);
  t.notOk('result' in canceled.json(), 'and does not cancel it');

  const a2a = async (body: object, as: Headers = bearer) =>
    (await app.inject({ method: 'POST', url: '/api/a2a/tasks/send', headers: as, payload: body })).body;
  const message = { role: 'user', parts: [{ text: JSON.stringify(ORDER) }] };
  const refusals = [
    { id: 'x', message },
    rpc('tasks/send', { id: 'x', message }),
    rpc('message/send', { message }),
    rpc('message/stream', { message }),
    rpc('SendMessage', { message }),
    rpc('SendStreamingMessage', { message }),
    rpc('tasks/cancel', { id: 'x' }),
    rpc('CancelTask', { id: 'x' }),
  ];
  for (const body of refusals) t.match(await a2a(body), /read_only_key/, JSON.stringify(body));
  const { id } = JSON.parse(await a2a(rpc('SendMessage', { message }), owner.bearer)).result.task;
  t.match(await a2a(rpc('GetTask', { id })), /"completed"|TASK_STATE/);
  t.match(await a2a(rpc('ListTasks', {})), new RegExp(id));
  const dryRun = await app.inject({ method: 'POST', url: '/api/poll/dry-run', headers: bearer, payload: ORDER });
  t.match(dryRun.json(), { dry_run: true, valid: true });
});

t.test('a key with a limit, an end or less rights manages neither keys, webhooks nor the account', async (t) => {
  const other = await keyOf({ label: 'other' });
  const hook = await app.inject({ method: 'POST', url: '/api/webhook-endpoints', headers: session, payload: HOOK });
  t.equal(hook.statusCode, 201);
  const { endpoint_id: hookId } = hook.json();
  const inAnHour = new Date(Date.now() + 3_600_000).toISOString();
  for (const terms of [{ limit_usd: 1 }, { limit_usd: 0, limit_reset: 'daily' }, { expires_at: inAnHour }]) {
    const { id, bearer } = await keyOf(terms);
    const send = async (method: 'POST' | 'PATCH' | 'PUT' | 'DELETE', url: string, payload?: object) => {
      const { statusCode, body } = await app.inject({ method, url, headers: bearer, ...(payload && { payload }) });
      return [statusCode, JSON.parse(body).code];
    };
    const refusal = [403, 'restricted_key'];
    t.same(await send('POST', '/api/keys', { limit_usd: 0.1 }), refusal);
    t.same(await send('PATCH', `/api/keys/${id}`, { limit_usd: null, expires_at: null }), refusal, 'not its own limit');
    t.same(await send('PATCH', `/api/keys/${other.id}`, { limit_usd: 5 }), refusal);
    t.same(await send('DELETE', `/api/keys/${other.id}`), refusal);
    t.same(await send('DELETE', '/api/keys'), refusal);
    t.same(await send('PUT', '/api/usage/low-balance', { low_balance_usd: 1 }), refusal);
    t.same(await send('POST', '/api/webhook-endpoints', HOOK), refusal);
    const elsewhere = { url: 'https://elsewhere.example.com/hooks' };
    t.same(await send('PATCH', `/api/webhook-endpoints/${hookId}`, elsewhere), refusal, 'events go where they went');
    t.same(await send('DELETE', `/api/webhook-endpoints/${hookId}`), refusal);
    t.same(await send('POST', `/api/webhook-endpoints/${hookId}/rotate-secret`, {}), refusal);
    t.same(await send('POST', '/api/webhook-endpoints/account/rotate-secret', {}), refusal);
    const secret = await app.inject({ url: '/api/webhook-endpoints/account/secret', headers: bearer });
    t.match(secret.json(), { code: 'restricted_key' }, 'with it, messages could be made up');
    t.match(secret.json().error, /^An API key that has a limit, expires or is read-only cannot manage keys/);
    t.same(await send('DELETE', `/api/keys/${id}`), [200, undefined], 'it revokes itself');
  }
  const read = await keyOf({ read_only: true, limit_usd: 1 });
  const made = await app.inject({ method: 'POST', url: '/api/keys', headers: read.bearer });
  t.match(made.json(), { code: 'read_only_key', error: /^The API key is read-only: it can neither run polls/ });
});

t.test('what is changed about a key counts at once', async (t) => {
  const { id, bearer } = await keyOf({ label: 'before' });
  const patch = (payload: object, headers: Headers = session) =>
    app.inject({ method: 'PATCH', url: `/api/keys/${id}`, headers, payload });
  const ask = () => app.inject({ method: 'POST', url: '/api/poll', headers: bearer, payload: ORDER });
  t.equal((await ask()).statusCode, 200);
  t.match((await patch({ label: 'after', read_only: true })).json(), { label: 'after', read_only: true });
  t.equal((await ask()).json().code, 'read_only_key');
  t.match((await patch({ read_only: false, limit_usd: 0.5, limit_reset: 'monthly' })).json(), {
    limit_usd: 0.5,
    limit_reset: 'monthly',
    spent_usd: /^0\.0/,
    held_usd: 0,
    resets_at: /-01T00:00:00.000Z$/,
  });
  t.equal((await ask()).statusCode, 200);
  const limited = (await patch({ limit_usd: 0 })).json();
  t.match(limited, { limit_usd: 0, limit_reset: 'monthly', spent_usd: limited.spent_month_usd });
  t.ok(limited.spent_month_usd > 0);
  const inCapitals = await app.inject({
    ...{ method: 'PATCH', url: `/api/keys/${id.toUpperCase()}`, headers: session },
    payload: { limit_usd: 0 },
  });
  t.same(inCapitals.json(), limited, 'the id in capitals is the same key');
  const refused = await ask();
  t.equal(refused.statusCode, 402);
  t.match(refused.json(), { code: 'key_budget_reached', resets_at: limited.resets_at });
  t.match((await patch({ limit_usd: null })).json(), { limit_usd: null, spent_usd: null, resets_at: null });
  t.equal((await ask()).statusCode, 200);

  t.equal(
    (await patch({ label: 'by key' }, owner.bearer)).json().label,
    'by key',
    'a key without limits changes others',
  );
  const resetOnly = await patch({ limit_reset: 'daily' });
  t.match(resetOnly.json(), { code: 'validation_error', error: /limit_reset goes with limit_usd/ });
  for (const payload of [
    {},
    { limit: 5 },
    { limit_usd: -1 },
    { limit_usd: 1e9 },
    { expires_at: '2020-01-01T00:00:00Z' },
  ])
    t.equal((await patch(payload)).statusCode, 400, JSON.stringify(payload));
  const misnamed = await app.inject({
    method: 'POST',
    url: '/api/keys',
    headers: session,
    payload: { daily_limit: 5 },
  });
  t.match([misnamed.statusCode, misnamed.json()], [400, { error: /daily_limit is not known here/ }], 'a new key');
  const stranger = await gateway.keyWith(0);
  t.equal((await patch({ label: 'mine' }, stranger.bearer)).json().code, 'key_not_found');
  t.equal((await app.inject({ method: 'DELETE', url: `/api/keys/${id}`, headers: session })).statusCode, 200);
  t.equal((await patch({ label: 'late' })).json().code, 'key_not_found', 'revoked');
});
