import { setTimeout as wait } from 'node:timers/promises';
import { type Lies, lyingProvider, sendJson } from '@eloquentpoll/testkit/fakes/provider';
import { generateKeyPair, type JWTPayload, SignJWT } from 'jose';
import t, { type Test } from 'tap';
import { identityProvider } from '../../src/accounts/login/identity-provider.ts';
import { ATTEMPT_COOKIE } from '../../src/accounts/login/login-attempt.ts';
import { sealer } from '../../src/accounts/login/login-cookie.ts';
import { providerDiscovery } from '../../src/accounts/login/provider-discovery.ts';
import { readPolicies } from '../../src/config/rate-limit-policies.ts';
import { type Browser, browser } from '../fixtures/browser.ts';
import { build, PEPPER } from '../fixtures/build.ts';

// slow: 7 s

// Every fault in the provider's response or in the callback is a 401: no cookie is set, the
// attempt is consumed and no account is created.

const BASE = 'https://polls.example';
const encoded = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');

async function setUp(t: Test) {
  const provider = await lyingProvider(t);
  const gateway = await build(t, { identityProvider: provider, rateLimits: readPolicies('login=1000/60') });
  const begin = async () => {
    const visitor = browser(gateway.app, BASE);
    const { location } = await visitor.step('/api/auth/login');
    const { state, code } = await provider.meet(location ?? '');
    return { visitor, query: new URLSearchParams({ code, state }) };
  };
  const accounts = async () => {
    const { count } = await gateway.context.storage.db
      .selectFrom('identities')
      .select(({ fn }) => fn.countAll<string>().as('count'))
      .executeTakeFirstOrThrow();
    return Number(count);
  };
  const comeBack = (visitor: Browser, query: URLSearchParams | string) => visitor.step(`/api/auth/callback?${query}`);
  return { ...gateway, provider, begin, accounts, comeBack };
}

function shiftedBy(seconds: number) {
  return (honest: JWTPayload) => ({
    ...honest,
    iat: (honest.iat ?? 0) + seconds,
    exp: (honest.exp ?? 0) + seconds,
  });
}

const without = (...names: string[]) => ({
  claims: (honest: JWTPayload) => Object.fromEntries(Object.entries(honest).filter(([name]) => !names.includes(name))),
});
const withClaims = (changed: JWTPayload) => ({ claims: (honest: JWTPayload) => ({ ...honest, ...changed }) });

t.test(
  '[§4.5-callback-401, §7-401-callback] an invalid response of the provider is a 401 without a login',
  async (t) => {
    const { provider, begin, accounts, comeBack } = await setUp(t);
    const stranger = await generateKeyPair('RS256');
    const secretOf = (text: string) => new TextEncoder().encode(text);
    const hs256 = (secret: Uint8Array) => (claims: JWTPayload) =>
      new SignJWT(claims).setProtectedHeader({ alg: 'HS256', kid: 'the key' }).sign(secret);

    const lies: Record<string, Lies> = {
      'no algorithm': { idToken: (claims) => `${encoded({ alg: 'none' })}.${encoded(claims)}.` },
      'HS256 under the public key': { idToken: hs256(secretOf(provider.publicKeyPem)) },
      'HS256 under the client secret': { idToken: hs256(secretOf(provider.clientSecret.padEnd(32, ' '))) },
      'the key of a stranger': {
        idToken: (claims) =>
          new SignJWT(claims).setProtectedHeader({ alg: 'RS256', kid: 'the key' }).sign(stranger.privateKey),
      },
      'a key that is not listed': { idToken: (claims) => provider.sign(claims, { kid: 'another key' }) },
      'claims changed after signing': {
        idToken: async (claims) => {
          const [header, , signature] = (await provider.sign(claims)).split('.');
          return [header, encoded({ ...claims, sub: 'admin' }), signature].join('.');
        },
      },
      'an unknown critical header': { idToken: (claims) => provider.sign(claims, { crit: ['odd'], odd: 1 }) },
      'no JWT': { idToken: () => 'a.b.c' },
      'no ID token': { idToken: () => '' },
      'for another client': withClaims({ aud: 'others' }),
      'for several, used by another': withClaims({ aud: ['polls', 'others'], azp: 'others' }),
      'of another issuer': withClaims({ iss: 'https://evil.example' }),
      'of an issuer that looks alike': withClaims({ iss: `${provider.issuer}/` }),
      stale: { claims: shiftedBy(-3_600) },
      'not yet valid': { claims: (honest) => ({ ...honest, nbf: (honest.iat ?? 0) + 3_600 }) },
      'without an end': without('exp'),
      'without a beginning': without('iat'),
      'without a nonce': without('nonce'),
      'with the nonce of another attempt': withClaims({ nonce: 'another' }),
      'without a subject': without('sub'),
      'with an empty subject': withClaims({ sub: '' }),
      'with an endless subject': withClaims({ sub: 'a'.repeat(256) }),
      'with a subject that no database keeps': withClaims({ sub: 'ann\u0000' }),
      'user info of another subject': { userinfo: { sub: 'eve', email: 'eve@example.com', email_verified: true } },
      'an error instead of tokens': { token: (response) => sendJson(response, { error: 'invalid_grant' }, 400) },
      'a failure': { token: (response) => response.writeHead(500).end('select * from secrets') },
      'no JSON': { token: (response) => response.writeHead(200, { 'content-type': 'text/html' }).end('<p>') },
      'a redirect': { token: (response) => response.writeHead(302, { location: 'https://evil.example' }).end() },
      'a hang-up': { token: (response) => void response.destroy() },
      'more than anybody says': { token: (response) => sendJson(response, { access_token: 'x'.repeat(600_000) }) },
    };
    for (const [name, lie] of Object.entries(lies)) {
      provider.lies = lie;
      const { visitor, query } = await begin();
      const page = await comeBack(visitor, query);
      t.match([page.status, JSON.parse(page.body).code], [401, 'login_failed'], name);
      t.match(page.setCookies, [/^ep_login=; /], `${name}: the attempt is gone`);
      t.equal(page.setCookies.length, 1, `${name}: nothing else is set`);
      t.equal(page.location, null);
      provider.lies = {};
      t.equal((await comeBack(visitor, query)).status, 401, `${name}: and is not taken up again`);
    }
    t.equal(await accounts(), 0);

    const { visitor, query } = await begin();
    t.equal((await comeBack(visitor, query)).status, 302, 'the honest answer fits');
    t.equal(await accounts(), 1);
  },
);

t.test(
  '[§4.5-callback-401, §4.5-callback-code-required] a callback with a changed query is a 401 without a login',
  async (t) => {
    const { begin, accounts, comeBack, provider } = await setUp(t);
    const changes: Record<string, (query: URLSearchParams) => unknown> = {
      'no code': (query) => query.delete('code'),
      'an empty code': (query) => query.set('code', ''),
      'an unknown code': (query) => query.set('code', 'guessed'),
      'two codes': (query) => query.append('code', 'another'),
      'no state': (query) => query.delete('state'),
      'an empty state': (query) => query.set('state', ''),
      'another state': (query) => query.set('state', 'x'.repeat(43)),
      'two states': (query) => query.append('state', query.get('state') ?? ''),
      'a refusal': (query) => {
        query.delete('code');
        query.set('error', 'access_denied');
      },
      'a refusal with a code': (query) => query.set('error', 'access_denied'),
      'another issuer': (query) => query.set('iss', 'https://evil.example'),
      'two issuers': (query) => [provider.issuer, 'https://evil.example'].map((issuer) => query.append('iss', issuer)),
      'a signed answer instead': (query) => query.set('response', 'a.b.c'),
      'an ID token in front': (query) => query.set('id_token', 'a.b.c'),
      nothing: (query) => [...query.keys()].map((name) => query.delete(name)),
    };
    for (const [name, change] of Object.entries(changes)) {
      const { visitor, query } = await begin();
      const changed = new URLSearchParams(query);
      change(changed);
      const page = await comeBack(visitor, changed);
      t.match([page.status, JSON.parse(page.body).code, page.setCookies.length], [401, 'login_failed', 1], name);
      t.match(page.setCookies, [/^ep_login=; /]);
      t.equal((await comeBack(visitor, query)).status, 401, `${name}: what was tried is over`);
    }
    // A provider that announces `iss` in its responses (RFC 9207) must send it.
    const promised = await setUp(t);
    promised.provider.lies = { metadata: { authorization_response_iss_parameter_supported: true } };
    const silent = await promised.begin();
    t.equal((await comeBackWith(promised, silent)).status, 401);
    const named = await promised.begin();
    named.query.set('iss', promised.provider.issuer);
    t.equal((await comeBackWith(promised, named)).status, 302);
    t.equal(await accounts(), 0);
  },
);

type SetUp = Awaited<ReturnType<typeof setUp>>;
const comeBackWith = ({ comeBack }: SetUp, { visitor, query }: Awaited<ReturnType<SetUp['begin']>>) =>
  comeBack(visitor, query);

t.test('a forged, changed, swapped or expired attempt cookie is a 401', async (t) => {
  const { begin, comeBack, app } = await setUp(t);
  const { visitor, query } = await begin();
  const cookie = visitor.cookie(ATTEMPT_COOKIE) ?? '';
  const other = (await begin()).visitor.cookie(ATTEMPT_COOKIE) ?? '';
  const state = query.get('state') ?? '';
  const content = { state, nonce: 'n', verifier: 'v', until: Date.now() + 60_000 };
  const ours = sealer([PEPPER], ATTEMPT_COOKIE);
  const bad: Record<string, string> = {
    'of another attempt': other,
    'sealed by a stranger': await sealer(['x'.repeat(32)], ATTEMPT_COOKIE).seal(JSON.stringify(content)),
    'sealed for another purpose': await sealer([PEPPER]).seal(JSON.stringify(content)),
    'too late': await ours.seal(JSON.stringify({ ...content, until: Date.now() - 1 })),
    'cut off': cookie.slice(0, -4),
    empty: '',
    plain: encoded(content),
    endless: 'e'.repeat(3_000),
  };
  for (let i = 0; i < 40; i++) {
    const place = Math.floor((i / 40) * cookie.length);
    bad[`changed at ${place}`] = cookie.slice(0, place) + (cookie[place] === 'B' ? 'C' : 'B') + cookie.slice(place + 1);
  }
  for (const [name, value] of Object.entries(bad)) {
    const thief = browser(app, BASE);
    thief.plant({ name: ATTEMPT_COOKIE, value, path: '/api/auth' });
    const page = await comeBack(thief, query);
    t.match([page.status, page.setCookies.length], [401, 1], name);
  }
  t.equal((await comeBack(visitor, query)).status, 302, 'the original cookie works');
  const copy = browser(app, BASE);
  copy.plant({ name: ATTEMPT_COOKIE, value: cookie, path: '/api/auth' });
  t.equal((await comeBack(copy, query)).status, 401, 'a second use, although this provider redeems a code twice');
});

t.test('a login that returns to a replica whose clock is an hour ahead succeeds', async (t) => {
  const { begin, comeBack } = await setUp(t);
  const { visitor, query } = await begin();
  const { now } = Date;
  t.teardown(() => {
    Date.now = now;
  });
  Date.now = () => now() + 3_600_000;
  t.equal((await comeBack(visitor, query)).status, 302);
});

t.test('no parameter or header changes where login and logout redirect to', async (t) => {
  const { begin, app, provider } = await setUp(t);
  const targets = [
    ['//evil.example', '/\\evil.example', '\\\\evil.example', '%2f%2fevil.example', '/%5cevil.example'],
    ['https://evil.example', 'https:evil.example', 'https:/evil.example', 'HTTPS://EVIL.EXAMPLE', '///evil.example'],
    ['javascript:alert(1)', 'data:text/html,x', '//evil。example', '/／evil.example', '//evil%E3%80%82example'],
    [
      'https://polls.example@evil.example',
      'https://polls.example.evil.example',
      '/\t/evil.example',
      '/%0d%0aSet-Cookie:x=1',
    ],
  ].flat();
  const names = [
    'next',
    'return_to',
    'returnTo',
    'redirect',
    'redirect_uri',
    'url',
    'post_logout_redirect_uri',
    'continue',
  ];
  for (const target of targets) {
    const more = new URLSearchParams(names.map((name): [string, string] => [name, target]));
    const headers = {
      host: 'evil.example',
      'x-forwarded-host': 'evil.example',
      'x-forwarded-proto': 'javascript',
      forwarded: 'host=evil.example',
      referer: 'https://evil.example/',
      origin: 'https://evil.example',
    };
    const there = await app.inject({ url: `/api/auth/login?${more}`, headers });
    t.match([there.statusCode, there.headers.location], [302, new RegExp(`^${provider.issuer}/auth\\?`)], target);
    t.equal(new URL(String(there.headers.location)).searchParams.get('redirect_uri'), `${BASE}/api/auth/callback`);

    const { visitor, query } = await begin();
    const back = await visitor.step(`/api/auth/callback?${query}&${more}`, headers);
    t.match([back.status, back.location], [302, `${BASE}/dashboard`], target);

    const out = await app.inject({ url: `/api/auth/logout?${more}`, headers });
    const leads = new URL(String(out.headers.location));
    t.equal(leads.origin, provider.issuer);
    t.same(Object.fromEntries(leads.searchParams), {
      kept: '1',
      client_id: 'polls',
      post_logout_redirect_uri: `${BASE}/`,
    });
  }
});

t.test('[§4.5-callback-401] a browser gets an HTML page with the reason and a link to try again', async (t) => {
  const { begin, comeBack, provider, app } = await setUp(t);
  const asBrowser = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' };
  const land = async (change: (query: URLSearchParams) => unknown, headers: Record<string, string> = asBrowser) => {
    const { visitor, query } = await begin();
    change(query);
    return visitor.step(`/api/auth/callback?${query}`, headers);
  };
  const refuse = (error: string) => (query: URLSearchParams) => {
    query.delete('code');
    query.set('error', error);
    query.set('error_description', '<b>words of the provider</b>');
  };
  const page = await land(refuse('access_denied'));
  t.equal(page.status, 401);
  t.match(page.headers, { 'content-type': /^text\/html/, 'cache-control': 'no-store', vary: /Accept/ });
  t.match(page.headers, { 'content-security-policy': /default-src 'none'/ });
  t.match(page.body, /Sign-in was cancelled\./);
  t.match(page.body, /href="\/api\/auth\/login">Try again/);
  t.notMatch(page.body, /words of the provider|access_denied/);
  t.match(page.setCookies, [/^ep_login=; /], 'the attempt is gone');

  t.match((await land(refuse('server_error'))).body, /did not confirm the login/);
  t.match((await land((query) => query.set('state', 'x'.repeat(43)))).body, /did not confirm the login/);
  t.match((await land((query) => query.delete('code'))).body, /was used before or has expired/);
  t.match((await comeBack(browser(app, BASE), 'code=x&state=y')).body, /^\{.*was used before or has expired/);
  for (const headers of [
    { accept: '*/*' },
    { ...asBrowser, 'x-machine-client': 'true' },
    { accept: 'application/json' },
  ])
    t.match(JSON.parse((await land(refuse('access_denied'), headers)).body), { code: 'login_failed' });

  provider.lies = { token: (response) => void response.destroy() };
  t.match(await land(() => undefined), { status: 401, body: /did not confirm the login/ });
});

t.test('a browser gets an HTML page when the provider does not answer', async (t) => {
  const { app } = await build(t);
  const page = await app.inject({ url: '/api/auth/login', headers: { accept: 'text/html' } });
  t.equal(page.statusCode, 503);
  t.match(page.body, /<h1>You are not signed in<\/h1>\n<p class="lead">This service has no identity provider/);
});

t.test('without a provider login is not_configured and logout ends the login', async (t) => {
  const { app, context, sessionFor, keyWith } = await build(t);
  t.equal(context.identityProvider, null);
  const login = await app.inject({ url: '/api/auth/login' });
  t.match([login.statusCode, login.json().code], [503, 'not_configured']);
  t.equal(login.headers['set-cookie'], undefined);
  t.equal((await app.inject({ url: '/api/auth/callback?code=x&state=y' })).statusCode, 401);
  const { cookie } = await sessionFor((await keyWith(0)).accountId);
  const out = await app.inject({ url: '/api/auth/logout', headers: { cookie } });
  t.match([out.statusCode, out.headers.location], [302, `${BASE}/`]);
  t.equal((await app.inject({ url: '/api/auth/me', headers: { cookie } })).statusCode, 401);
});

t.test('without an answering provider other operations work, and it is requested once per cooldown', async (t) => {
  const { app, provider, keyWith, sessionFor } = await setUp(t);
  provider.lies = { away: true };
  t.same(provider.asked, [], 'a start asks nothing');
  const login = () => app.inject({ url: '/api/auth/login' });
  const refused = await Promise.all([login(), login(), login()]);
  for (const answer of refused) {
    t.match([answer.statusCode, answer.json().code], [503, 'service_unavailable']);
    t.match(answer.headers, { 'retry-after': '5' });
    t.equal(answer.headers['set-cookie'], undefined);
  }
  t.equal(provider.asked.length, 2, 'tried twice for all of them');
  for (let i = 0; i < 5; i++) t.equal((await login()).statusCode, 503);
  t.equal(provider.asked.length, 2, 'and then left alone for a while');

  const { bearer, accountId } = await keyWith(0);
  t.equal((await app.inject({ url: '/api/keys', headers: bearer })).statusCode, 200);
  const { cookie } = await sessionFor(accountId);
  t.match((await app.inject({ url: '/api/auth/logout', headers: { cookie } })).headers, { location: `${BASE}/` });
});

t.test('discovery succeeds once the provider is back, and then survives its next outage', async (t) => {
  const provider = await lyingProvider(t);
  provider.lies = { away: true };
  const discovery = providerDiscovery(provider, { cooldownMs: 50 });
  const { app } = await build(
    t,
    { identityProvider: provider },
    { identityProvider: identityProvider(provider, BASE, discovery) },
  );
  const login = async () => (await app.inject({ url: '/api/auth/login' })).statusCode;
  t.equal(await login(), 503);
  provider.lies = {};
  let status = 503;
  for (let tries = 0; status === 503 && tries < 100; tries++) {
    await wait(20);
    status = await login();
  }
  t.equal(status, 302);
  const known = provider.asked.length;
  await login();
  t.equal(provider.asked.length, known, 'a cached document is not fetched again');
  provider.lies = { away: true };
  t.equal(await login(), 302, 'the cached document is used');
});

t.test('discovery documents of another issuer or of the wrong form are rejected', async (t) => {
  for (const metadata of [
    { issuer: 'https://evil.example' },
    { issuer: undefined },
    { padding: 'x'.repeat(600_000) },
  ]) {
    const { app, provider } = await setUp(t);
    provider.lies = { metadata };
    t.equal((await app.inject({ url: '/api/auth/login' })).statusCode, 503);
  }
});

t.test('state, nonce, code, tokens and cookies of a login are not logged', async (t) => {
  const { begin, comeBack, log, provider } = await setUp(t);
  const good = await begin();
  await comeBack(good.visitor, good.query);
  provider.lies = withClaims({ sub: '' });
  const bad = await begin();
  await comeBack(bad.visitor, bad.query);
  const lines = log.join('');
  t.match(lines, /login\.failed/);
  for (const secret of [good, bad].flatMap(({ query }) => [...query.values()])) t.notOk(lines.includes(secret));
  t.notMatch(lines, /ep_login|ep_session=|"ann"|a secret/);
});

t.test('while Redis is away a login is a 503, and the same callback can be repeated', async (t) => {
  const { begin, comeBack, context } = await setUp(t);
  const { visitor, query } = await begin();
  const { redis } = context.bus;
  const away = t.intercept(redis, 'set', { value: () => Promise.reject(new Error('Connection is closed.')) });
  const refused = await comeBack(visitor, query);
  t.match([refused.status, refused.headers['retry-after']], [503, '2']);
  away.restore();
  t.equal((await comeBack(visitor, query)).status, 302);
});
