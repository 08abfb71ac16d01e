import { randomBelow } from '@eloquentpoll/testkit/seed';
import { Redis } from 'ioredis';
import t from 'tap';
import { readPolicies } from '../../src/config/rate-limit-policies.ts';
import { rateLimiter } from '../../src/http/rate-limits/rate-limiter.ts';
import { build, type Gateway } from '../fixtures/build.ts';
import { standInWorker } from '../fixtures/stand-in-worker.ts';
import { stored } from '../fixtures/stored.ts';

// slow: 5 s

const Q = 'Which of these is the best?';
const FULL = { question: Q, options: ['A', 'B'] };
const QUICK = { q: Q, o: ['A', 'B'] };

const asking = ({ app }: Gateway) => ({
  post: (url: string, payload: object | string, headers: object = {}, remoteAddress = '127.0.0.1') =>
    app.inject({
      method: 'POST',
      url,
      headers: { 'content-type': 'application/json', ...headers },
      payload: typeof payload === 'string' ? payload : JSON.stringify(payload),
      remoteAddress,
    }),
});

type Answer = Awaited<ReturnType<ReturnType<typeof asking>['post']>>;
const left = ({ headers }: Answer): number => Number(headers['ratelimit-remaining']);

t.test(
  '[§8-ratelimit-limit, §8-ratelimit-remaining, §8-ratelimit-reset, §8-ratelimit-policy] every answer has its budget, errors too',
  async (t) => {
    const gateway = await build(t);
    await standInWorker(t, gateway.context);
    const { post } = asking(gateway);
    const { bearer } = await gateway.keyWith(10);
    const poor = await gateway.keyWith(0);
    const answers = [
      await post('/api/poll', FULL, bearer),
      await post('/api/quick-poll', QUICK),
      await post('/api/poll', FULL),
      await post('/api/poll', FULL, { authorization: 'Bearer unknown' }),
      await post('/api/poll', FULL, poor.bearer),
      await post('/api/poll', {}, bearer),
      await post('/api/poll', '{', bearer),
      await post('/api/quick-poll', '{'),
      await post('/api/quick-poll', 'x'.repeat(70_000)),
      await post('/api/quick-poll', '{}', { 'content-type': 'text/plain' }),
      await post('/api/poll', FULL, { ...bearer, 'idempotency-key': '' }),
      await post('/api/nothing', FULL, bearer),
      await gateway.app.inject({ method: 'DELETE', url: '/api/poll' }),
      await gateway.app.inject({ method: 'OPTIONS', url: '/api/poll' }),
      await gateway.app.inject({ url: '/api/health' }),
    ];
    t.same(
      answers.map(({ statusCode }) => statusCode),
      [200, 200, 401, 401, 402, 400, 400, 400, 413, 415, 400, 404, 405, 204, 200],
    );
    for (const { headers, statusCode } of answers) {
      for (const name of ['ratelimit-limit', 'ratelimit-remaining', 'ratelimit-reset'])
        t.match(headers[name], /^\d+$/, `${name} of a ${statusCode}`);
      t.match(headers['ratelimit-policy'], /^\d+;w=\d+(, \d+;w=\d+)*$/);
      t.ok(Number(headers['ratelimit-reset']) > 0);
    }
    t.equal(answers[0]!.headers['ratelimit-policy'], '1000;w=60');
    t.equal(answers[1]!.headers['ratelimit-policy'], '60;w=3600, 300;w=86400');
  },
);

t.test('[§7-429] beyond the budget: 429 with a time to come back, and nothing is stored', async (t) => {
  const gateway = await build(t, { rateLimits: readPolicies('poll=3/60,free_poll=2/3600') });
  await standInWorker(t, gateway.context);
  const { post } = asking(gateway);
  const { bearer, accountId } = await gateway.keyWith(10);

  t.equal(left(await post('/api/poll', FULL, bearer)), 2);
  t.equal(left(await post('/api/poll', { question: 5 }, bearer)), 1, 'a refused one counts, and counts once');
  t.equal(left(await post('/api/quick-poll', QUICK, bearer)), 0, 'one budget per operation, not per path');
  const before = await stored(gateway.context);
  for (const url of ['/api/poll', '/api/quick-poll']) {
    const answer = await post(url, QUICK, { ...bearer, 'x-machine-client': 'true', 'idempotency-key': 'later' });
    t.equal(answer.statusCode, 429);
    t.match(answer.headers['content-type'], /^application\/problem\+json/);
    const seconds = Number(answer.headers['retry-after']);
    t.ok(seconds >= 1 && seconds <= 60);
    t.equal(answer.headers['ratelimit-reset'], String(seconds));
    t.match(answer.json(), {
      code: 'rate_limited',
      retryable: true,
      recovery: [{ action: 'back_off', after_seconds: seconds }],
    });
    t.equal(left(answer), 0);
  }
  t.same(await stored(gateway.context), before, 'the key is free for the retry too');

  const session = await gateway.sessionFor(accountId);
  t.equal((await post('/api/poll', FULL, session)).statusCode, 429, 'an account has one budget, however it comes');
  const other = await gateway.keyWith(10);
  t.equal((await post('/api/poll', FULL, other.bearer)).statusCode, 200);

  t.equal(left(await post('/api/quick-poll', { ...QUICK, theme: 'free' }, bearer)), 1, 'free ones have their own');
  t.equal(left(await post('/api/poll', { ...QUICK, theme: 'free' }, bearer)), 0);
  t.equal((await post('/api/quick-poll', { ...QUICK, theme: 'free' }, bearer)).statusCode, 429);
  t.equal(left(await post('/api/poll', QUICK)), 1);
  t.equal(left(await post('/api/quick-poll', QUICK)), 0);
  const anonymous = await post('/api/poll', QUICK, { 'x-machine-client': 'true' });
  t.match([anonymous.statusCode, anonymous.json().recovery[0]], [429, { action: 're_authenticate' }], 'or with a key');
  t.equal((await post('/api/poll', FULL)).statusCode, 401, 'what cannot run draws nothing from it');
  t.equal((await post('/api/poll', { ...FULL, dry_run: true }, bearer)).statusCode, 200, 'nor does a dry run');
});

t.test('spellings of a path are no other budget, and run nothing', async (t) => {
  const gateway = await build(t);
  const { post } = asking(gateway);
  const before = await stored(gateway.context);
  const spellings = [
    '/API/poll',
    '/api/Quick-Poll',
    '//api/quick-poll',
    '/api//quick-poll',
    '/api/quick-poll%2f',
    '/api/./quick-poll/x',
    '/api/quick-poll;x=1',
  ];
  for (const url of spellings) t.equal((await post(url, QUICK)).statusCode, 404, url);
  const override = { 'x-http-method-override': 'POST' };
  t.equal((await gateway.app.inject({ url: '/api/quick-poll', headers: override })).statusCode, 405);
  t.same(await stored(gateway.context), before);
  await standInWorker(t, gateway.context);
  const same = ['/api/quick%2Dpoll', '/%61pi/quick-poll', '/api/quick-poll?x=1', '/api/quick-poll/'];
  for (const [n, url] of same.entries()) t.equal(left(await post(url, QUICK)), 59 - n, `${url} is the same path`);
});

const CALLS = 40;
/** Bodies that are wrong draw from this one. */
const FREE = { rateLimits: readPolicies('compute=1000000/3600') };
/** How many calls of these the first of them is counted for. */
const buckets = (answers: readonly Answer[]) => Math.max(...answers.map((answer) => 1_000_000 - left(answer)));

t.test('X-Forwarded-For is believed from trusted networks only, and only its last hop', async (t) => {
  const random = () => Array.from({ length: 4 }, () => randomBelow(256)).join('.');
  const ask = async (gateway: Gateway, from: string, forwarded: (n: number) => string) => {
    const { post } = asking(gateway);
    const answers = [];
    // What is wrong with the body does not matter to whom it is counted for.
    for (let n = 0; n < CALLS; n++)
      answers.push(
        await post('/api/quick-poll', {}, { 'x-forwarded-for': forwarded(n), forwarded: `for=${random()}` }, from),
      );
    return buckets(answers);
  };
  const direct = await build(t, FREE);
  t.equal(await ask(direct, '203.0.113.7', random), CALLS, 'no proxy is trusted: one bucket');
  const proxied = await build(t, { ...FREE, trustedProxies: ['10.0.0.0/8'] });
  t.equal(await ask(proxied, '203.0.113.7', random), CALLS, 'a stranger is not the proxy: one bucket');
  t.equal(
    await ask(proxied, '10.1.2.3', () => `${random()}, 198.51.100.5`),
    CALLS,
    'what the client wrote does not count',
  );
  t.equal(await ask(proxied, '10.1.2.3', () => `${random()}, 198.51.100.6, 10.9.9.9`), CALLS, 'nor behind two proxies');
  t.equal(await ask(proxied, '10.1.2.3', (n) => `198.51.101.${n}`), 1, 'what the proxy saw does: a bucket each');
});

t.test('all addresses of an IPv6 /64 are one client', async (t) => {
  const gateway = await build(t, FREE);
  const { post } = asking(gateway);
  const from = (n: number) => `2001:db8:1:2:${((n * 7919) % 65_536).toString(16)}::${n.toString(16)}`;
  const answers = [];
  for (let n = 1; n <= CALLS; n++) answers.push(await post('/api/quick-poll', {}, {}, from(n)));
  t.equal(buckets(answers), CALLS);
  t.equal(left(await post('/api/quick-poll', {}, {}, '2001:db8:1:3::1')), 999_999, 'the next network is another');
});

t.test('without the limiter what is paid for goes on, and what is free closes', async (t) => {
  const away = new Redis('redis://127.0.0.1:1', {
    lazyConnect: true,
    enableOfflineQueue: false,
    retryStrategy: () => null,
  });
  away.on('error', () => {});
  t.teardown(() => away.disconnect());
  const gateway = await build(t, {}, { limiter: rateLimiter(away, 'x', readPolicies('poll=10/60')) });
  await standInWorker(t, gateway.context);
  const { post } = asking(gateway);
  const { bearer } = await gateway.keyWith(10);
  const statuses = [];
  for (let n = 0; n < 7; n++) statuses.push((await post('/api/poll', FULL, bearer)).statusCode);
  t.same(statuses, [200, 200, 200, 200, 200, 429, 429], 'half the budget, kept by this process');
  const before = await stored(gateway.context);
  for (const answer of [
    await post('/api/quick-poll', QUICK),
    await post('/api/poll', QUICK),
    await post('/api/quick-poll', { ...QUICK, theme: 'free' }, bearer),
  ]) {
    t.match([answer.statusCode, answer.json().code, answer.headers['retry-after']], [429, 'rate_limited', '10']);
    t.match(answer.json().error, /^Free polls cannot be counted at the moment, so none is taken; try again in 10 s/);
    t.match(answer.headers, { 'ratelimit-limit': /\d/, 'ratelimit-policy': /\d/, 'ratelimit-remaining': '0' });
  }
  t.same(await stored(gateway.context), before);
});

t.test('free polls of accounts without money draw from the budget of their network too', async (t) => {
  const gateway = await build(t, { rateLimits: readPolicies('free_poll=3/3600') });
  const { app, context, keyWith } = gateway;
  await standInWorker(t, context);
  const ask = async (bearer: Record<string, string>, remoteAddress = '203.0.113.7') => {
    const payload = { question: 'Which of these is it?', options: ['one', 'two'], theme: 'free' };
    return (await app.inject({ method: 'POST', url: '/api/quick-poll', headers: bearer, payload, remoteAddress }))
      .statusCode;
  };
  const [one, two, funded] = [await keyWith(0), await keyWith(0), await keyWith(1)];
  t.same([await ask(one.bearer), await ask(one.bearer), await ask(two.bearer)], [200, 200, 200]);
  t.equal(await ask(two.bearer), 429, 'the network has none left, whichever account asks');
  t.equal(await ask({}), 429, 'nor for anonymous callers');
  t.equal(await ask(two.bearer, '198.51.100.7'), 200, 'elsewhere the account has some of its own left');
  t.equal(await ask(two.bearer, '198.51.100.7'), 429, 'and no more than that');
  t.equal(await ask(funded.bearer), 200, 'who has paid in has a budget of its own');
  await gateway.asOwner(`update balances set posted_u = 0, used_u = 1000000 where account_id = '${funded.accountId}'`);
  t.equal(await ask(funded.bearer), 200, 'also once all of it is spent');
});

t.test('payment pages are counted for all accounts of a network together', async (t) => {
  const rateLimits = readPolicies('checkout=2/3600,checkout_network=3/3600');
  const { app, keyWith, sessionFor } = await build(t, { rateLimits });
  const pay = async (headers: Record<string, string>, remoteAddress = '203.0.113.7') => {
    const request = { method: 'POST', url: '/api/checkout', payload: { amount_cents: 1_000 } } as const;
    const { statusCode, headers: answered } = await app.inject({ ...request, headers, remoteAddress });
    return [statusCode === 429, Number(answered['ratelimit-remaining'])];
  };
  const account = async () => sessionFor((await keyWith(0)).accountId);
  const [one, two, three] = [await account(), await account(), await account()];
  t.same(
    [await pay(one), await pay(one)],
    [
      [false, 1],
      [false, 0],
    ],
  );
  t.same(await pay(one), [true, 0], 'the account has none left');
  t.same(await pay(two), [false, 0], 'one is left for its network');
  t.same(await pay(two), [true, 0], 'now none, though the account has one');
  t.same(await pay(three), [true, 0], 'nor for an account that is new');
  t.same(await pay(three, '198.51.100.7'), [false, 0], 'elsewhere it has one left of its own');
});

t.test('a key that makes keys without end gets no budget of each', async (t) => {
  const gateway = await build(t, { rateLimits: readPolicies('key_issue=3/60') });
  const { app } = gateway;
  const { accountId, bearer } = await gateway.keyWith(0);
  const session = await gateway.sessionFor(accountId);
  const make = async (headers: Record<string, string>) =>
    app.inject({ method: 'POST', url: '/api/keys', headers, payload: {} });
  const made = [await make(bearer), await make(session), await make(bearer)];
  t.same(
    made.map(({ statusCode }) => statusCode),
    [201, 201, 201],
  );
  const newest = { authorization: `Bearer ${made[2]!.json().key}` };
  for (const headers of [newest, bearer, session]) t.equal((await make(headers)).statusCode, 429);
  const form = await app.inject({
    method: 'POST',
    url: `/dashboard/keys/${made[0]!.json().id}/rotate`,
    headers: session,
  });
  t.equal(form.statusCode, 429, 'forms draw from it too');
  const revoked = await app.inject({ method: 'DELETE', url: `/api/keys/${made[0]!.json().id}`, headers: session });
  t.equal(revoked.statusCode, 200);
});

t.test('calls that a key or a user id is refused use up no budget of its account', async (t) => {
  const rateLimits = readPolicies('poll=3/60,compute=3/60,read=20/60,session=3/60,key_issue=3/60');
  const gateway = await build(t, { rateLimits, mcpUserIdBearer: true });
  await standInWorker(t, gateway.context);
  const { post } = asking(gateway);
  const { accountId, bearer } = await gateway.keyWith(10);
  const keyOf = async (terms: object) => {
    const { key } = (await post('/api/keys', terms, bearer)).json();
    return { authorization: `Bearer ${key}` };
  };
  const [reading, limited] = [await keyOf({ read_only: true }), await keyOf({ limit_usd: 1 })];
  const rpc = (method: string, params: object) => ({ jsonrpc: '2.0', id: 1, method, params });
  const mcp = (headers: object, remoteAddress?: string) =>
    post(
      '/api/mcp',
      rpc('tools/call', { name: 'poll_question', arguments: FULL }),
      { ...headers, accept: 'application/json, text/event-stream' },
      remoteAddress,
    );
  const message = { messageId: 'm', role: 'ROLE_USER', parts: [{ text: JSON.stringify(FULL) }] };
  const a2a = (method: string, params: object) => post('/api/a2a/tasks/send', rpc(method, params), reading);
  const userId = { authorization: `Bearer ${accountId}` };

  t.match((await mcp(reading)).body, /read_only_key/);
  t.match((await a2a('SendMessage', { message })).body, /read_only_key/);
  t.match((await mcp(userId, '203.0.113.7')).body, /authentication_required/);
  for (let n = 0; n < 4; n++) {
    await mcp(reading);
    await a2a('SendMessage', { message });
    await a2a('ListTasks', {});
    await post('/api/poll/dry-run', FULL, reading);
    await mcp(userId, '203.0.113.7');
    t.equal((await post('/api/keys', {}, limited)).statusCode, n < 3 ? 403 : 429);
  }
  t.equal((await a2a('ListTasks', {})).statusCode, 429, 'it has used up its own');
  const tasks = await post('/api/a2a/tasks/send', rpc('ListTasks', {}), bearer);
  t.match([tasks.statusCode, left(tasks)], [200, 2]);
  const tried = await post('/api/poll/dry-run', FULL, bearer);
  t.match([tried.statusCode, left(tried)], [200, 2]);
  const asked = await post('/api/poll', FULL, bearer);
  t.match([asked.statusCode, left(asked)], [200, 2]);
  const made = await post('/api/keys', {}, bearer);
  t.match([made.statusCode, left(made)], [201, 0], 'the two above, and this one');
});

t.test('a key that calls without end leaves its owner what revokes it: login, other keys, dashboard', async (t) => {
  const gateway = await build(t, { rateLimits: readPolicies('account=9/60') });
  const { app } = gateway;
  const { accountId, bearer } = await gateway.keyWith(0);
  const [session, elsewhere] = [await gateway.sessionFor(accountId), await gateway.sessionFor(accountId)];
  for (const terms of [{ read_only: true }, {}]) {
    const answer = await app.inject({ method: 'POST', url: '/api/keys', headers: session, payload: terms });
    const { id, key } = answer.json();
    const stolen = { authorization: `Bearer ${key}` };
    const call = async (headers: Record<string, string>) =>
      (await app.inject({ url: '/api/keys', headers })).statusCode;
    for (let n = 0; n < 9; n++) t.equal(await call(stolen), 200);
    t.equal(await call(stolen), 429, 'it has used up its own');
    t.equal(await call(elsewhere), 200, 'a login has its own');
    for (const [method, url, headers, payload] of [
      ['PATCH', `/api/keys/${id}`, bearer, { label: 'stolen' }],
      ['GET', `/dashboard/keys/${id}/revoke`, session, undefined],
      ['DELETE', `/api/keys/${id}`, terms.read_only ? session : bearer, undefined],
    ] as const) {
      const done = await app.inject({ method, url, headers, ...(payload && { payload }) });
      t.equal(done.statusCode, 200, `${method} ${url}`);
    }
    t.equal(await call(stolen), 401);
  }
  t.equal((await app.inject({ method: 'DELETE', url: '/api/keys', headers: session })).statusCode, 200);
});
