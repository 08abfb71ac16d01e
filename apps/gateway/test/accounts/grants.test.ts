import { createHash, randomBytes } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { closeLogins, freezeAccount, inTransaction, listKeys, revokeAllKeys } from '@eloquentpoll/storage';
import { eventually } from '@eloquentpoll/testkit/eventually';
import t from 'tap';
import { closeEverywhere } from '../../src/accounts/close-everywhere.ts';
import { revokeEverything } from '../../src/accounts/keys/revoke-everything.ts';
import { browser } from '../fixtures/browser.ts';
import { build, type Gateway } from '../fixtures/build.ts';
import { openSite } from '../fixtures/open-site.ts';
import { realProvider } from '../fixtures/real-provider.ts';
import { patientReplicaOf } from '../fixtures/replica.ts';
import { logIn } from '../fixtures/signed-in.ts';
import { NO_LOGIN_LIMIT, walletOwner } from '../fixtures/wallet-owner.ts';

// slow: 5 s

// A login of the command line: what the page sends where, and who gets a key for it.

const FORM = { 'content-type': 'application/x-www-form-urlencoded' };
const token = (bytes: number) => randomBytes(bytes).toString('base64url');

function attempt(more: Partial<Record<string, string>> = {}) {
  const verifier = token(32);
  const challenge = createHash('sha256').update(verifier).digest('base64url');
  const query = new URLSearchParams({ port: '49152', state: token(16), challenge, name: 'lap top', ...more });
  return { verifier, query, path: `/dashboard/grant?${query}` };
}

type Session = Record<'cookie' | 'origin', string>;

/** What a program has after its user has allowed it in the browser with this session. */
async function allowed({ app }: Gateway, session: Session): Promise<{ code: string; verifier: string }> {
  const { verifier, query } = attempt();
  const payload = `${query}&answer=allow`;
  const sent = await app.inject({ method: 'POST', url: '/dashboard/grant', headers: { ...session, ...FORM }, payload });
  return { code: new URL(String(sent.headers.location)).searchParams.get('code') ?? '', verifier };
}

t.test('allowed once, the code is worth one key for the one with the verifier', async (t) => {
  const { app, context, keyWith, sessionFor, log } = await build(t);
  const { accountId } = await keyWith(0);
  const session = await sessionFor(accountId);
  const allow = async (query: URLSearchParams, answer = 'allow') => {
    const payload = `${query}&answer=${answer}`;
    const sent = await app.inject({
      method: 'POST',
      url: '/dashboard/grant',
      headers: { ...session, ...FORM },
      payload,
    });
    t.equal(sent.statusCode, 303);
    t.equal(sent.headers['cache-control'], 'no-store');
    return new URL(String(sent.headers.location));
  };
  const redeem = (payload: object) => app.inject({ method: 'POST', url: '/api/keys/redeem', payload });

  const { verifier, query } = attempt();
  const back = await allow(query);
  t.equal(back.origin, 'http://127.0.0.1:49152');
  t.equal(back.searchParams.get('state'), query.get('state'));
  const code = back.searchParams.get('code') ?? '';
  const answers = await Promise.all([1, 2, 3].map(() => redeem({ code, verifier })));
  t.same(answers.map(({ statusCode }) => statusCode).sort(), [201, 401, 401], 'once, also at the same time');
  const { key, label } = answers.find(({ statusCode }) => statusCode === 201)?.json() ?? {};
  t.equal(label, 'eloquentpoll on lap top');
  t.equal((await app.inject({ url: '/api/keys', headers: { authorization: `Bearer ${key}` } })).statusCode, 200);
  t.equal((await listKeys(context.storage, accountId)).length, 2);

  const second = attempt();
  const stolen = (await allow(second.query)).searchParams.get('code') ?? '';
  t.match((await redeem({ code: stolen, verifier: token(32) })).json(), { code: 'login_failed' });
  t.equal((await redeem({ code: stolen, verifier: second.verifier })).statusCode, 401, 'a guess uses it up');
  t.equal((await redeem({ code: token(32), verifier })).statusCode, 401);
  t.equal((await redeem({ code: token(32) })).statusCode, 400);

  const refused = await allow(attempt().query, 'refuse');
  t.match([refused.searchParams.get('error'), refused.searchParams.get('code')], ['access_denied', null]);
  const late = attempt();
  const lateCode = (await allow(late.query)).searchParams.get('code') ?? '';
  const [name = ''] = (await context.bus.redis.keys(`${context.bus.prefix}:grant:*`)).slice(-1);
  const left = await context.bus.redis.ttl(name);
  t.ok(left > 0 && left <= 120, `${left} s`);
  await context.bus.redis.del(name);
  t.equal((await redeem({ code: lateCode, verifier: late.verifier })).statusCode, 401, 'expired');
  t.equal((await listKeys(context.storage, accountId)).length, 2);
  t.notMatch(log.join(''), new RegExp(`${code}|ep_k_\\w{38}`));
});

t.test('a code is worth nothing once the login that allowed it has ended, in any way', async (t) => {
  const gateway = await build(t, { rateLimits: NO_LOGIN_LIMIT });
  const { app, context, keyWith, sessionFor } = gateway;
  const { storage } = context;
  const redeem = (payload: object) => app.inject({ method: 'POST', url: '/api/keys/redeem', payload });
  const unknown = (await redeem({ code: token(49), verifier: token(32) })).json();

  interface Caller {
    accountId: string;
    bearer: { authorization: string };
    session: Session;
  }
  const ends: Record<string, (caller: Caller) => Promise<unknown>> = {
    'all keys and logins are revoked': async ({ bearer }) =>
      app.inject({ method: 'DELETE', url: '/api/keys', headers: bearer }),
    'an operator revokes them': ({ accountId }) => revokeEverything(context, accountId),
    'its browser logs out': async ({ session: { cookie } }) =>
      app.inject({ url: '/api/auth/logout', headers: { cookie } }),
    'it expires': ({ accountId }) =>
      gateway.asOwner(`update logins set expires_at = now() where account_id = '${accountId}'`),
    'the account is frozen': ({ accountId }) => freezeAccount(storage, accountId),
    'the account is deleted': ({ accountId }) => closeEverywhere(context, accountId),
  };
  for (const [what, end] of Object.entries(ends)) {
    const { accountId, bearer } = await keyWith(0);
    const session = await sessionFor(accountId);
    const [granted, other] = [await allowed(gateway, session), await allowed(gateway, await sessionFor(accountId))];
    await end({ accountId, bearer, session });
    const answer = await redeem(granted);
    t.match([answer.statusCode, answer.json()], [401, { ...unknown, request_id: String }], what);
    t.notOk(
      (await listKeys(storage, accountId)).some(({ label }) => label.startsWith('eloquentpoll on')),
      what,
    );
    const isOnlyOne = what === 'its browser logs out';
    t.equal((await redeem(other)).statusCode, isOnlyOne ? 201 : 401, `${what}, and another one of the account`);
  }

  const owner = walletOwner(gateway);
  const [login] = (await owner.verify()).cookies;
  const session = { cookie: `${login?.name}=${login?.value}`, origin: context.config.baseUrl };
  const granted = await allowed(gateway, session);
  t.equal((await owner.rotate()).statusCode, 200);
  t.equal((await redeem(granted)).statusCode, 401, 'its wallet rotates the keys');
});

t.test('what is revoked in this moment makes no key: a code, a login or a key', async (t) => {
  const gateway = await build(t);
  const { context, keyWith, sessionFor } = gateway;
  const { accountId, bearer } = await keyWith(0);
  const session = await sessionFor(accountId);
  const granted = await allowed(gateway, session);
  const { app } = await patientReplicaOf(t, context);
  const post = async (url: string, payload: object, headers: object = {}) =>
    (await app.inject({ method: 'POST', url, payload, headers: { ...headers } })).json();
  const waiting = async () => {
    const rows = await gateway.asOwner(
      `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
    );
    return Array.isArray(rows) && rows.length === 3;
  };

  const { answers } = await inTransaction(context.storage, async (tx) => {
    await revokeAllKeys(tx, accountId);
    await closeLogins(tx, accountId);
    const answers = Promise.all([
      post('/api/keys/redeem', granted),
      post('/api/keys', { label: 'by login' }, session),
      post('/api/keys', { label: 'by key' }, bearer),
    ]);
    await eventually('all three wait for the account', waiting);
    return { answers };
  });
  t.match(await answers, [
    { code: 'login_failed' },
    { code: 'authentication_required' },
    { code: 'authentication_required' },
  ]);
  t.equal((await listKeys(context.storage, accountId)).length, 1, 'the one of before');
});

t.test('a code that was allowed in another cell leads a router there', async (t) => {
  const [first, second] = [await build(t), await build(t, { cell: '1' })];
  const { accountId } = await second.keyWith(0);
  const { verifier, query } = attempt();
  const sent = await second.app.inject({
    method: 'POST',
    url: '/dashboard/grant',
    headers: { ...(await second.sessionFor(accountId)), ...FORM },
    payload: `${query}&answer=allow`,
  });
  const code = new URL(String(sent.headers.location)).searchParams.get('code') ?? '';
  const redeem = ({ app }: typeof first, code: string) =>
    app.inject({ method: 'POST', url: '/api/keys/redeem', payload: { code, verifier } });
  const led = await redeem(first, code);
  t.match(led, { statusCode: 503, headers: { 'x-accel-redirect': '@ep_cell_1' } });
  t.match(led.json(), { code: 'account_moving' });
  for (const wrong of [
    `2${code.slice(1)}`,
    `${code.slice(0, -1)}${code.endsWith('A') ? 'Q' : 'A'}`,
    `1${token(49)}`,
    code.slice(1),
  ])
    t.match(await redeem(first, wrong), { statusCode: 401 }, 'not a code of ours');
  t.equal((await redeem(second, code)).statusCode, 201);
  t.equal((await redeem(second, code)).statusCode, 401, 'used');
});

t.test('the form counts only from here, by who is logged in, to a port of the own computer', async (t) => {
  const { app, context, keyWith, sessionFor } = await build(t);
  const { accountId, bearer } = await keyWith(0);
  const { cookie } = await sessionFor(accountId);
  const { query, path } = attempt();
  const send = async (headers: Record<string, string>, payload = `${query}&answer=allow`) =>
    (await app.inject({ method: 'POST', url: '/dashboard/grant', headers: { ...headers, ...FORM }, payload }))
      .statusCode;
  t.equal(await send({}), 401);
  t.equal(await send(bearer), 401, 'a key makes no grant');
  for (const origin of ['https://evil.example', 'null']) t.equal(await send({ cookie, origin }), 403, origin);
  t.equal(await send({ cookie, 'sec-fetch-site': 'cross-site' }), 403);
  for (const wrong of [
    { port: '80' },
    { port: '65536' },
    { port: '1@evil' },
    { state: 'short' },
    { challenge: 'short' },
    { name: '<b>' },
    { name: '' },
  ]) {
    const { query, path } = attempt(wrong);
    t.equal(await send({ cookie }, `${query}&answer=allow`), 400, JSON.stringify(wrong));
    t.equal((await app.inject({ url: path, headers: { cookie } })).statusCode, 400, JSON.stringify(wrong));
  }
  t.same(await context.bus.redis.keys(`${context.bus.prefix}:grant:*`), []);
  const page = await app.inject({ url: path, headers: { cookie } });
  t.notMatch(page.body, 'Sign in', 'its reader is signed in');
  t.match(page.headers, { 'cache-control': 'no-store', 'content-security-policy': /frame-ancestors 'none'/ });
  t.match(page.headers['content-security-policy'], "form-action 'self' http://127.0.0.1:49152");
  t.equal((await listKeys(context.storage, accountId)).length, 1, 'seeing the page makes no key');
});

t.test('a login that the page asked for leads back to it, and nowhere else', async (t) => {
  const base = 'https://polls.example';
  const provider = await realProvider(t, base);
  const { app } = await build(t, { identityProvider: provider });
  const { path } = attempt();
  const page = await app.inject({ url: path });
  t.equal(page.statusCode, 200);
  const href = /href="(\/api\/auth\/login[^"]*)"/.exec(page.body)?.[1]?.replaceAll('&amp;', '&') ?? '';
  const landing = async (start: string) => {
    const visitor = browser(app, base);
    const { location } = await visitor.open(start, (url) => url.startsWith(`${base}/dashboard`));
    return location;
  };
  t.equal(await landing(href), `${base}${path}`);
  for (const next of [
    'https://evil.example',
    '//evil.example',
    '/dashboard/grant?@evil',
    '/dashboard/grant',
    '/api/keys',
  ]) {
    t.equal(await landing(`/api/auth/login?${new URLSearchParams({ next })}`), `${base}/dashboard`, next);
  }
});

t.test('opened by hand the page says where a login starts', async (t) => {
  const { app } = await build(t);
  const forPeople = await app.inject({ url: '/dashboard/grant', headers: { accept: 'text/html' } });
  t.equal(forPeople.statusCode, 400);
  t.match(forPeople.body, /<h1>Start in the terminal<\/h1>.*eloquentpoll login/s);
  t.match((await app.inject({ url: '/dashboard/grant' })).json(), { code: 'validation_error' });
});

t.test('in a browser the code reaches the program: the policy of the page lets its answer through', async (t) => {
  const site = await openSite(t);
  const { accountId } = await site.keyWith(0);
  const { promise: heard, resolve } = Promise.withResolvers<string>();
  const program = createServer((request, response) => {
    resolve(request.url ?? '');
    response.end('Allowed.');
  });
  await new Promise<void>((done) => program.listen(0, '127.0.0.1', done));
  t.teardown(() => program.close());
  const { path, query } = attempt({ port: String((program.address() as AddressInfo).port) });

  const context = await site.browser.newContext({ baseURL: site.url });
  const page = await context.newPage();
  await page.goto('/logo.svg');
  await logIn(site, accountId, page);
  await page.goto(path);
  const digits = createHash('sha256')
    .update(query.get('challenge') ?? '')
    .digest('hex')
    .slice(0, 8)
    .toUpperCase();
  await page.getByText(`${digits.slice(0, 4)}-${digits.slice(4)}`).waitFor();
  await page.getByRole('button', { name: 'Allow' }).click();
  const url = new URL(await heard, 'http://127.0.0.1');
  t.match(url.searchParams.get('code'), /^0[\w-]{65}$/);
  t.equal(url.searchParams.get('state'), query.get('state'));
  await page.getByText('Allowed.').waitFor();
});

t.test('while Redis is away a command-line login is a 503, by page and by code', async (t) => {
  const { app, context, keyWith, sessionFor } = await build(t);
  const session = await sessionFor((await keyWith(0)).accountId);
  const { redis } = context.bus;
  const away = () => Promise.reject(new Error('Connection is closed.'));
  for (const name of ['set', 'getdel'] as const) t.intercept(redis, name, { value: away });
  const payload = `${attempt().query}&answer=allow`;
  for (const answer of [
    await app.inject({ method: 'POST', url: '/dashboard/grant', headers: { ...session, ...FORM }, payload }),
    await app.inject({
      ...{ method: 'POST', url: '/api/keys/redeem' },
      payload: { code: token(49), verifier: token(32) },
    }),
  ])
    t.match([answer.statusCode, answer.headers['retry-after']], [503, '2']);
});
