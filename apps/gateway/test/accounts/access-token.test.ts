import { findIdentity } from '@eloquentpoll/storage';
import { lyingProvider } from '@eloquentpoll/testkit/fakes/provider';
import { generateKeyPair, type JWTPayload, SignJWT } from 'jose';
import t, { type Test } from 'tap';
import { readPolicies } from '../../src/config/rate-limit-policies.ts';
import { browser } from '../fixtures/browser.ts';
import { build } from '../fixtures/build.ts';
import { realProvider } from '../fixtures/real-provider.ts';
import { standInWorker } from '../fixtures/stand-in-worker.ts';

// slow: 3 s

// Access tokens of the identity provider used in place of an API key.

const BASE = 'https://polls.example';

async function setUp(t: Test, limits = 'account=1000/60,failed_authentication=1000/60') {
  const provider = await lyingProvider(t);
  const gateway = await build(t, {
    identityProvider: provider,
    rateLimits: readPolicies(limits),
  });
  const claims = (changed: JWTPayload = {}): JWTPayload => {
    const now = Math.floor(Date.now() / 1000);
    return {
      iss: provider.issuer,
      aud: BASE,
      sub: 'ann',
      client_id: 'agent',
      scope: 'account',
      iat: now,
      exp: now + 60,
      ...changed,
    };
  };
  const list = (token: string, more = {}) =>
    gateway.app.inject({ url: '/api/keys', headers: { authorization: `Bearer ${token}`, ...more } });
  return { ...gateway, provider, claims, list, good: () => provider.sign(claims(), { typ: 'at+jwt' }) };
}

t.test('[§A6-provider-token-bearer] a token of a real provider acts for the account of its subject', async (t) => {
  const provider = await realProvider(t, BASE);
  const { app, context } = await build(t, { identityProvider: provider });
  const tokenFor = async (resource: string) => {
    const query = new URLSearchParams({
      client_id: provider.clientId,
      response_type: 'code',
      redirect_uri: `${BASE}/api/auth/callback`,
      scope: 'openid account',
      resource,
    });
    const visitor = browser(app, BASE);
    const { url } = await visitor.open(`${provider.issuer}/auth?${query}`, (next) => next.startsWith(BASE));
    const answer = await fetch(`${provider.issuer}/token`, {
      method: 'POST',
      headers: {
        authorization: `Basic ${btoa([provider.clientId, provider.clientSecret].map(encodeURIComponent).join(':'))}`,
      },
      body: new URLSearchParams({
        grant_type: 'authorization_code',
        code: new URL(url).searchParams.get('code') ?? '',
        redirect_uri: `${BASE}/api/auth/callback`,
        resource,
      }),
    });
    const { access_token } = (await answer.json()) as { access_token: string };
    return access_token;
  };
  const keys = async (resource: string) =>
    app.inject({ url: '/api/keys', headers: { authorization: `Bearer ${await tokenFor(resource)}` } });
  for (const resource of [BASE, `${BASE}/`, `${BASE}/api/mcp`])
    t.equal((await keys(resource)).statusCode, 200, resource);
  t.equal((await keys(`${BASE}/api/elsewhere`)).statusCode, 401, 'a token for others');

  const visitor = browser(app, BASE);
  await visitor.open('/api/auth/login', (url) => url === `${BASE}/dashboard`);
  const { userId } = JSON.parse((await visitor.step('/api/auth/me')).body);
  const identity = await findIdentity(context.storage, { kind: 'oidc', issuer: provider.issuer, subject: 'ann' });
  t.equal(identity?.accountId, userId, 'with a browser and with a token: one account');
});

t.test(
  '[§A6-provider-token-bearer] every supported algorithm and every spelling of our audience is accepted',
  async (t) => {
    const { provider, claims, list, good } = await setUp(t);
    for (const token of [
      await good(),
      await provider.sign(claims()),
      await provider.sign(claims(), { typ: 'application/at+jwt' }),
      await provider.sign(claims(), { typ: 'JWT' }),
      await provider.sign(claims({ typ: 'Bearer' }), { typ: 'JWT' }),
      await provider.sign(claims({ aud: [BASE, 'https://other.example'] })),
      await provider.sign(claims({ aud: `${BASE}/api/mcp` })),
    ]) {
      t.equal((await list(token)).statusCode, 200);
    }
  },
);

t.test('[§A6-bad-bearer-401, §5-rule-401] a token that is invalid in any one way is a 401', async (t) => {
  const { provider, claims, list, good, context } = await setUp(t);
  t.equal((await list(await good())).statusCode, 200);
  t.equal((await list(await provider.signBy('RS256', claims()))).statusCode, 200);
  const token = await good();
  const [header = '', payload = '', signature = ''] = token.split('.');
  const encoded = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const stranger = await generateKeyPair('RS256');
  const now = Math.floor(Date.now() / 1000);
  const bad: Record<string, string> = {
    'no signature': `${header}.${payload}.`,
    'no algorithm': `${encoded({ alg: 'none', typ: 'at+jwt' })}.${payload}.`,
    'no algorithm, with a signature': `${encoded({ alg: 'none', typ: 'at+jwt' })}.${payload}.${signature}`,
    'HS256 under the public key': await new SignJWT(claims())
      .setProtectedHeader({ alg: 'HS256', kid: 'the key', typ: 'at+jwt' })
      .sign(new TextEncoder().encode(provider.publicKeyPem)),
    'the key of a stranger': await new SignJWT(claims())
      .setProtectedHeader({ alg: 'RS256', kid: 'the key', typ: 'at+jwt' })
      .sign(stranger.privateKey),
    'an algorithm that is not taken': await provider.signBy('RS512', claims()),
    'a key that is not listed': await provider.sign(claims(), { kid: 'another' }),
    'a key that the token brings': await provider.sign(claims(), { kid: 'another', jku: 'https://evil.example/jwks' }),
    'claims changed after signing': `${header}.${encoded(claims({ sub: 'admin' }))}.${signature}`,
    'for another resource': await provider.sign(claims({ aud: 'https://other.example' })),
    'for a resource that looks alike': await provider.sign(claims({ aud: `${BASE}.evil.example` })),
    'for the client, as an ID token is': await provider.sign(claims({ aud: provider.clientId })),
    'for an empty audience': await provider.sign(claims({ aud: [] })),
    'of another issuer': await provider.sign(claims({ iss: 'https://evil.example' })),
    'of an issuer in another spelling': await provider.sign(claims({ iss: `${provider.issuer}/` })),
    expired: await provider.sign(claims({ exp: now - 10 })),
    'not yet valid': await provider.sign(claims({ nbf: now + 60 })),
    'of another kind': await provider.sign(claims(), { typ: 'logout+jwt' }),
    'an ID token': await provider.sign(claims({ aud: [provider.clientId, BASE] }), { typ: 'JWT' }),
    'an ID token of no type': await provider.sign(claims({ aud: [provider.clientId, BASE] })),
    'an ID token of a login': await provider.sign(claims({ nonce: 'n' }), { typ: 'JWT' }),
    'an ID token beside an access token': await provider.sign(claims({ at_hash: 'h' }), { typ: 'JWT' }),
    'an ID token by its own word': await provider.sign(claims({ typ: 'ID' }), { typ: 'JWT' }),
    'bound to a key': await provider.sign(claims({ cnf: { jkt: 'x' } })),
    'of an empty subject': await provider.sign(claims({ sub: '' })),
    'of a subject that is too long': await provider.sign(claims({ sub: 'a'.repeat(256) })),
    'of a subject that Postgres cannot store': await provider.sign(claims({ sub: 'ann\u0000' })),
    'an unknown critical header': await provider.sign(claims(), { crit: ['odd'], odd: 1 }),
    endless: await provider.sign(claims({ more: 'x'.repeat(9_000) })),
    'no JSON': 'eyJub3QianNvbg.eyJub3QianNvbg.eyJub3QianNvbg',
    'four parts': `${token}.${signature}`,
  };
  for (const name of ['exp', 'sub', 'iss', 'aud']) {
    const without = Object.fromEntries(Object.entries(claims()).filter(([known]) => known !== name));
    bad[`without ${name}`] = await provider.sign(without);
  }
  for (const [name, wrong] of Object.entries(bad)) {
    const answer = await list(wrong);
    t.match([answer.statusCode, answer.json().code], [401, 'invalid_api_key'], name);
    t.match(answer.headers, { 'www-authenticate': /^Bearer resource_metadata=".+", error="invalid_token"$/ });
  }
  for (let i = 0; i < signature.length; i += 7) {
    const touched = signature.slice(0, i) + (signature[i] === 'B' ? 'C' : 'B') + signature.slice(i + 1);
    t.equal((await list(`${header}.${payload}.${touched}`)).statusCode, 401);
  }
  const { count } = await context.storage.db
    .selectFrom('identities')
    .select(({ fn }) => fn.countAll<string>().as('count'))
    .executeTakeFirstOrThrow();
  t.equal(Number(count), 1, 'they created no identity');
});

t.test(
  '[§A6-cookie-only-bearer-401, §A6-bearer-over-cookie] a token is accepted where a key is, not where a cookie is required, and wins over a cookie',
  async (t) => {
    const { app, good, list, keyWith, sessionFor } = await setUp(t);
    const authorization = `Bearer ${await good()}`;
    const me = await app.inject({ url: '/api/auth/me', headers: { authorization } });
    t.equal(me.statusCode, 401, 'not where the cookie is asked for');
    const { accountId } = await keyWith(0);
    const session = await sessionFor(accountId);
    t.same((await list(await good(), session)).json(), [], 'not the keys of the cookie');
    t.equal((await list(`${await good()}x`, session)).statusCode, 401, 'a bad one is not made up for by a cookie');
    const posted = await app.inject({
      method: 'POST',
      url: '/api/keys',
      headers: { authorization, origin: 'https://evil.example' },
      payload: { label: 'by token' },
    });
    t.equal(posted.statusCode, 201, 'no browser sends a bearer by itself');
    t.match((await list(await good())).json(), [{ label: 'by token' }]);
  },
);

t.test(
  'malformed tokens cost no request to the provider, unknown key ids one at most, and an unreachable JWKS is a 503',
  async (t) => {
    const { provider, claims, list, good } = await setUp(t);
    const elsewhere = await provider.sign(claims({ iss: 'https://evil.example' }));
    for (const token of ['eyJhbGciOiJub25lIn0.e30.x', elsewhere, `${'x'.repeat(9_000)}`]) await list(token);
    t.same(provider.asked, []);

    provider.lies = { away: true };
    const away = await list(await good());
    t.match([away.statusCode, away.json().code, away.headers['retry-after']], [503, 'service_unavailable', '5']);
    const tries = provider.asked.length;
    await Promise.all(Array.from({ length: 20 }, async () => t.equal((await list(await good())).statusCode, 503)));
    t.equal(provider.asked.length, tries, 'no request during the cooldown');

    const half = await setUp(t);
    await half.app.inject({ url: '/api/auth/login' });
    half.provider.lies = { away: true };
    const met = half.provider.asked.length;
    for (let i = 0; i < 5; i++) t.equal((await half.list(await half.good())).statusCode, 503);
    t.equal(half.provider.asked.length, met + 1, 'one JWKS request, then a cooldown');

    const back = await setUp(t);
    t.equal((await back.list(await back.good())).statusCode, 200);
    const known = back.provider.asked.length;
    for (let i = 0; i < 20; i++) {
      t.equal((await back.list(await back.provider.sign(back.claims(), { kid: `key ${i}` }))).statusCode, 401);
    }
    t.equal(back.provider.asked.length, known, 'unknown key ids do not refetch the JWKS');
    back.provider.lies = { away: true };
    t.equal((await back.list(await back.good())).statusCode, 200, 'cached keys are accepted');
  },
);

t.test(
  'a made-up key id while the JWKS is away refuses no token of a known key, and counts for its network',
  async (t) => {
    const { app, provider, claims, list, good } = await setUp(t, 'account=1000/60,failed_authentication=3/60');
    t.equal((await list(await good())).statusCode, 200);
    const { now } = Date;
    t.teardown(() => {
      Date.now = now;
    });
    // The JWKS is fetched again for an unknown key id at most every half minute.
    Date.now = () => now() + 31_000;
    provider.lies = { away: true };
    const met = provider.asked.length;
    const madeUp = async () => {
      const authorization = `Bearer ${await provider.sign(claims(), { kid: 'another' })}`;
      return app.inject({ url: '/api/keys', headers: { authorization }, remoteAddress: '203.0.113.7' });
    };
    for (let n = 0; n < 3; n++) {
      const refused = await madeUp();
      t.match([refused.statusCode, refused.headers['retry-after']], [503, '5']);
      t.equal((await list(await good())).statusCode, 200, 'the key is known');
      t.equal((await list(await provider.signBy('RS256', claims()))).statusCode, 200, 'the other one too');
    }
    t.equal(provider.asked.length, met + 1, 'one request, then a cooldown');
    t.equal((await madeUp()).statusCode, 429);
  },
);

t.test('a token opens no account where it asks for what is public', async (t) => {
  const { app, context, provider, claims, good, list, keyWith, sessionFor, asOwner } = await setUp(t);
  await standInWorker(t, context);
  const owner = await keyWith(1);
  const payload = { question: 'Which of these is the best choice?', options: ['A', 'B'] };
  const poll = await app.inject({ method: 'POST', url: '/api/poll', headers: owner.bearer, payload });
  const receipt = (token: string, more = {}) =>
    app.inject({
      url: `/api/results/${poll.json().poll_id}/receipt`,
      headers: { authorization: `Bearer ${token}`, ...more },
    });
  const accounts = () => asOwner('select id from accounts order by id');
  const before = await accounts();

  t.match(await receipt(await good()), { statusCode: 200, headers: { 'cache-control': 'public, no-cache' } });
  const beside = await receipt(await good(), await sessionFor(owner.accountId));
  t.equal(beside.statusCode, 200);
  t.notOk('price' in beside.json(), 'it wins over a cookie all the same');
  t.same(await accounts(), before);
  const late = await provider.sign(claims({ exp: 1 }), { typ: 'at+jwt' });
  t.equal((await receipt(late)).statusCode, 401, 'and has to be valid');

  t.equal((await list(await good())).statusCode, 200);
  t.not(((await accounts()) as unknown[]).length, (before as unknown[]).length);
  t.match(await receipt(await good()), { statusCode: 200, headers: { 'cache-control': 'private, no-store' } });
});

t.test('without an identity provider every token is a 401', async (t) => {
  const { app } = await build(t);
  const { provider, claims } = await setUp(t);
  const authorization = `Bearer ${await provider.sign(claims())}`;
  t.equal((await app.inject({ url: '/api/keys', headers: { authorization } })).statusCode, 401);
});

t.test('a token without a scope of ours runs polls and reads, and cannot make itself a key', async (t) => {
  const { app, provider, claims } = await setUp(t);
  const call = async (scope: string | undefined, method: 'GET' | 'POST' | 'DELETE', url: string, payload?: object) => {
    const token = await provider.sign(claims({ scope }), { typ: 'at+jwt' });
    const headers = { authorization: `Bearer ${token}` };
    return app.inject({ method, url, headers, ...(payload && { payload }) });
  };
  const poll = { question: 'Which of the two is larger?', options: ['Sun', 'Moon'] };
  for (const scope of [undefined, 'openid profile', 'polls:run results:read']) {
    const refused = await call(scope, 'POST', '/api/keys');
    t.match([refused.statusCode, refused.json().code], [403, 'insufficient_scope'], scope ?? 'none');
    const wanted = 'polls:run results:read account';
    t.equal(
      refused.headers['www-authenticate'],
      `Bearer error="insufficient_scope", scope="${wanted}"`,
      'none is lost',
    );
    t.equal((await call(scope, 'DELETE', '/api/keys')).statusCode, 403, 'nor end those of its owner');
    t.equal((await call(scope, 'POST', '/api/poll/dry-run', poll)).statusCode, 200, scope ?? 'none');
    t.equal(
      (await call(scope, 'GET', '/api/polls/ps_none/status')).statusCode,
      404,
      'it may read: there is no such poll',
    );
  }
  t.equal((await call('account', 'POST', '/api/keys')).statusCode, 201);
  t.equal(
    (await call('account', 'POST', '/api/poll/dry-run', poll)).statusCode,
    403,
    'a scope is not more than it says',
  );
  t.equal((await call('polls:run', 'GET', '/api/polls/ps_none/status')).statusCode, 403);
});

t.test('over A2A and MCP a token reads and cancels with the scopes that REST asks for', async (t) => {
  const { app, provider, claims } = await setUp(t);
  const call = async (scope: string, url: string, method: string, params: object) => {
    const token = await provider.sign(claims({ scope }), { typ: 'at+jwt' });
    const headers = {
      authorization: `Bearer ${token}`,
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': method,
      ...('taskId' in params && { 'mcp-name': String(params.taskId) }),
    };
    return app.inject({ method: 'POST', url, headers, payload: { jsonrpc: '2.0', id: 1, method, params } });
  };
  const [A2A, MCP] = ['/api/a2a/tasks/send', '/api/mcp'];
  const ALL = 'polls:run results:read account';
  const meta = {
    _meta: {
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientCapabilities': { extensions: { 'io.modelcontextprotocol/tasks': {} } },
    },
  };
  const [task, mcpTask] = [{ id: 'none' }, { taskId: 'none', ...meta }];
  const message = { messageId: 'm', role: 'ROLE_USER', parts: [{ text: 'no poll' }] };
  const table: [scope: string, url: string, method: string, params: object, allowed: number][] = [
    ['polls:run', A2A, 'SendMessage', { message }, 400],
    ['results:read', A2A, 'tasks/get', task, 200],
    ['results:read', A2A, 'GetTask', task, 200],
    ['results:read', A2A, 'ListTasks', {}, 200],
    ['results:read', A2A, 'tasks/resubscribe', task, 404],
    ['results:read', A2A, 'SubscribeToTask', task, 404],
    ['account', A2A, 'tasks/cancel', task, 200],
    ['account', A2A, 'CancelTask', task, 200],
    ['results:read', MCP, 'resources/list', meta, 200],
    ['results:read', MCP, 'tasks/get', mcpTask, 200],
    ['account', MCP, 'tasks/cancel', mcpTask, 200],
  ];
  for (const [scope, url, method, params, allowed] of table) {
    const answer = await call(scope, url, method, params);
    t.equal(answer.statusCode, allowed, `${scope} ${method}: ${answer.body}`);
    const others = ['polls:run', 'results:read', 'account'].filter((other) => other !== scope).join(' ');
    const refused = await call(others, url, method, params);
    t.match([refused.statusCode, refused.body], [403, /insufficient_scope/i], `${others} ${method}`);
    const metadata = `resource_metadata="${BASE}/.well-known/oauth-protected-resource/api/mcp"`;
    const challenge = `Bearer error="insufficient_scope", scope="${ALL}"${url === MCP ? `, ${metadata}` : ''}`;
    t.equal(refused.headers['www-authenticate'], challenge, `${others} ${method}`);
  }
  for (const [url, method] of [
    [A2A, 'tasks/unknown'],
    [A2A, 'GetExtendedAgentCard'],
    [MCP, 'tools/list'],
  ] as const)
    t.not((await call('account', url, method, meta)).statusCode, 403, `${method} needs no scope`);
});

t.test('in a batch over MCP each call needs the scope that it needs alone', async (t) => {
  const { app, provider, claims, asOwner } = await setUp(t);
  const call = async (scope: string, payload: object) => {
    const token = await provider.sign(claims({ scope }), { typ: 'at+jwt' });
    const headers = { authorization: `Bearer ${token}`, accept: 'application/json, text/event-stream' };
    return app.inject({ method: 'POST', url: '/api/mcp', headers, payload });
  };
  const tool = (id: number, name: string, more: object = {}) => ({
    ...{ jsonrpc: '2.0', id, method: 'tools/call' },
    params: { name, arguments: more },
  });
  const order = { question: 'Which of the two is larger?', options: ['Sun', 'Moon'], preset: 'fast' };
  const batch = [
    tool(1, 'poll_question', order),
    tool(2, 'get_balance'),
    tool(3, 'get_poll_result', { poll_id: 'EP-x' }),
  ];
  for (const [scope, allowed] of [
    ['results:read', []],
    ['polls:run', [1]],
    ['account', [2]],
  ] as const) {
    const answer = await call(scope, batch);
    t.equal(answer.statusCode, 200, scope);
    const answers = answer.body
      .split('\n')
      .filter((line) => line.startsWith('data: '))
      .map((line) => JSON.parse(line.slice('data: '.length)));
    const refused = answers.filter((one) => /insufficient_scope/.test(JSON.stringify(one))).map(({ id }) => id);
    t.same(
      refused,
      [1, 2].filter((id) => !(allowed as readonly number[]).includes(id)),
      scope,
    );
    t.equal(answers.length, batch.length);
  }
  t.same(await asOwner('select id from polls'), [], 'and none was paid for: the account has no money');
});

t.test('a network whose tokens failed too often is refused, and a valid token of it is not', async (t) => {
  const provider = await lyingProvider(t);
  const limits = { rateLimits: readPolicies('failed_authentication=12/60') };
  const { app } = await build(t, { identityProvider: provider, ...limits });
  const call = async (token: string) =>
    (await app.inject({ url: '/api/polls?limit=1', headers: { authorization: `Bearer ${token}` } })).statusCode;
  const now = Math.floor(Date.now() / 1000);
  const claims = (sub: string) => ({ iss: provider.issuer, aud: BASE, sub, scope: 'account', iat: now, exp: now + 60 });
  const sign = (sub: string) => provider.sign(claims(sub), { typ: 'at+jwt' });
  const wrong = `${(await sign('ann')).slice(0, -8)}AAAAAAAA`;
  const statuses = [];
  for (let i = 0; i < 14; i++) statuses.push(await call(wrong));
  t.same([statuses[0], statuses.at(-1)], [401, 429]);
  t.equal(await call(await sign('ben')), 200);
});
