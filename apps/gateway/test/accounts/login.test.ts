import { findIdentity } from '@eloquentpoll/storage';
import t, { type Test } from 'tap';
import { sealer } from '../../src/accounts/login/login-cookie.ts';
import { browser } from '../fixtures/browser.ts';
import { build, PEPPER } from '../fixtures/build.ts';
import { realProvider } from '../fixtures/real-provider.ts';

// slow: 3 s

// Login and logout through a real identity provider, as a browser does them.

const BASE = 'https://polls.example';

async function setUp(t: Test) {
  const provider = await realProvider(t, BASE);
  const gateway = await build(t, { identityProvider: provider });
  const newBrowser = () => browser(gateway.app, BASE);
  const isDashboard = (url: string) => url === `${BASE}/dashboard`;
  const logIn = async (visitor = newBrowser()) => {
    const page = await visitor.open('/api/auth/login', isDashboard);
    return { visitor, page };
  };
  return { ...gateway, provider, newBrowser, logIn };
}

t.test(
  '[§4.5-login-302, §4.5-callback-302, §4.5-me-200, §5-cookie-after-login, §5-cookie-name, §5-cookie-encrypted, §1-support-identity-provider] login redirects to the provider and back to the dashboard with a cookie',
  async (t) => {
    const { provider, newBrowser, context } = await setUp(t);
    const visitor = newBrowser();
    const away = await visitor.step('/api/auth/login');
    t.equal(away.status, 302);
    const url = new URL(away.location ?? '');
    t.equal(url.origin, provider.issuer);
    t.match(Object.fromEntries(url.searchParams), {
      client_id: 'polls',
      response_type: 'code',
      redirect_uri: `${BASE}/api/auth/callback`,
      scope: 'openid email',
      code_challenge: /^[\w-]{43}$/,
      code_challenge_method: 'S256',
      state: /^[\w-]{43}$/,
      nonce: /^[\w-]{43}$/,
    });
    t.match(away.headers, { 'cache-control': 'no-store' });
    const attempt = /^ep_login=([^;]+); Max-Age=600; Path=\/api\/auth; HttpOnly; Secure; SameSite=Lax$/;
    t.match(away.setCookies, [attempt]);
    const sealed = attempt.exec(away.setCookies[0] ?? '')?.[1] ?? '';
    t.notOk(Buffer.from(sealed, 'base64url').includes(url.searchParams.get('state') ?? ''), 'and it shows nothing');

    const back = await visitor.open(url.href, (next) => next === `${BASE}/dashboard`);
    t.equal(back.status, 302);
    t.match(back.setCookies.sort(), [
      /^ep_login=; .*Expires=Thu, 01 Jan 1970/,
      /^ep_route=0\w{8}; Max-Age=604800; Path=\/; HttpOnly; Secure; SameSite=Lax$/,
      /^ep_session=[\w.-]+; Max-Age=604800; Path=\/; HttpOnly; Secure; SameSite=Lax$/,
    ]);
    t.equal(visitor.cookie('ep_login'), undefined);
    const me = await visitor.step('/api/auth/me');
    t.equal(me.status, 200);
    const identity = await findIdentity(context.storage, { kind: 'oidc', issuer: provider.issuer, subject: 'ann' });
    t.same(JSON.parse(me.body), { userId: identity?.accountId, email: 'ann@example.com' });
  },
);

t.test(
  'issuer and subject name the account; its e-mail address may change or equal that of another account',
  async (t) => {
    const { provider, logIn } = await setUp(t);
    const whoIs = async () => JSON.parse((await (await logIn()).visitor.step('/api/auth/me')).body);
    const ann = await whoIs();
    provider.person = { id: 'ann', email: 'ann@new.example', email_verified: true };
    t.same(await whoIs(), { userId: ann.userId, email: 'ann@new.example' });
    provider.person = { id: 'eve', email: 'ann@new.example', email_verified: true };
    t.not((await whoIs()).userId, ann.userId, 'the same address is another account');

    for (const person of [
      { id: 'mallory', email: 'ann@new.example', email_verified: false },
      { id: 'trent', email: 'ann@new.example' },
      { id: 'walter', email: 'not an address', email_verified: true },
      { id: 'peggy' },
    ]) {
      provider.person = person;
      t.match(await whoIs(), { email: /@user\.invalid$/ }, 'an unverified address is not kept');
    }
  },
);

t.test(
  '[§4.5-logout-clears, §4.5-logout-302] logout ends the login for every copy of its cookie, then redirects to the logout of the provider',
  async (t) => {
    const { provider, logIn, newBrowser } = await setUp(t);
    const { visitor } = await logIn();
    const copied = visitor.cookie('ep_session') ?? '';
    const out = await visitor.step('/api/auth/logout', { 'sec-fetch-dest': 'document' });
    t.equal(out.status, 302);
    t.match(out.setCookies, [/^ep_session=; .*Expires=Thu, 01 Jan 1970/]);
    const url = new URL(out.location ?? '');
    t.equal(url.origin + url.pathname, `${provider.issuer}/session/end`);
    t.same(Object.fromEntries(url.searchParams), { client_id: 'polls', post_logout_redirect_uri: `${BASE}/` });
    t.equal((await visitor.step(url.href)).status, 200, 'the provider knows the address to come back to');

    const thief = newBrowser();
    thief.plant({ name: 'ep_session', value: copied, path: '/' });
    for (const who of [visitor, thief]) t.equal((await who.step('/api/auth/me')).status, 401);
    t.equal((await visitor.step('/api/auth/logout')).status, 302, 'logging out twice is no error');
  },
);

t.test('only a top-level navigation logs out; subresources and prefetches are a 403', async (t) => {
  const { logIn } = await setUp(t);
  const { visitor } = await logIn();
  const embedded: Record<string, string>[] = [
    ...['image', 'iframe', 'empty', 'script', 'style', 'object', 'video', ''].map((kind) => ({
      'sec-fetch-dest': kind,
    })),
    { 'sec-fetch-dest': 'document', 'sec-purpose': 'prefetch;prerender' },
    { 'sec-fetch-dest': 'document', purpose: 'prefetch' },
  ];
  for (const headers of embedded) {
    const page = await visitor.step('/api/auth/logout', headers);
    t.match([page.status, page.setCookies, page.location], [403, { length: 0 }, null], JSON.stringify(headers));
    t.equal(JSON.parse(page.body).code, 'forbidden_origin');
  }
  t.equal((await visitor.step('/api/auth/me')).status, 200);
});

t.test('a new login gets a new id and ends the previous login of the browser', async (t) => {
  const { logIn, newBrowser } = await setUp(t);
  const victim = newBrowser();
  const attacker = (await logIn()).visitor.cookie('ep_session') ?? '';
  victim.plant({ name: 'ep_session', value: attacker, path: '/' });
  await logIn(victim);
  t.not(victim.cookie('ep_session'), attacker, 'a planted session cookie is not taken over');
  const planted = newBrowser();
  planted.plant({ name: 'ep_session', value: attacker, path: '/' });
  t.equal((await planted.step('/api/auth/me')).status, 401, 'and leads nowhere any more');

  const first = victim.cookie('ep_session');
  await logIn(victim);
  t.not(victim.cookie('ep_session'), first);
});

t.test('a login cookie and an attempt cookie do not open as each other', async (t) => {
  const { newBrowser, logIn } = await setUp(t);
  const { visitor } = await logIn();
  const session = visitor.cookie('ep_session') ?? '';
  const begun = newBrowser();
  await begun.step('/api/auth/login');
  const attempt = begun.cookie('ep_login') ?? '';

  const asSession = newBrowser();
  asSession.plant({ name: 'ep_session', value: attempt, path: '/' });
  t.equal((await asSession.step('/api/auth/me')).status, 401, 'an attempt cookie as a login cookie');

  const asAttempt = newBrowser();
  const away = await asAttempt.step('/api/auth/login');
  const back = await asAttempt.open(away.location ?? '', (url) => url.startsWith(`${BASE}/api/auth/callback`));
  const swapped = newBrowser();
  swapped.plant({ name: 'ep_login', value: session, path: '/api/auth' });
  t.equal((await swapped.step(back.url)).status, 401, 'a login cookie as an attempt cookie');

  // The purpose is part of the key derivation and of the authenticated header.
  const one = sealer([PEPPER], 'one');
  const two = sealer([PEPPER], 'two');
  const sealed = await one.seal('content');
  t.equal(await one.open(sealed), 'content');
  t.equal(await two.open(sealed), null);
  const header = JSON.parse(Buffer.from(sealed.split('.')[0] ?? '', 'base64url').toString());
  const twoHeader = JSON.parse(Buffer.from((await two.seal('')).split('.')[0] ?? '', 'base64url').toString());
  const renamed = Buffer.from(JSON.stringify({ ...header, typ: 'two', kid: twoHeader.kid })).toString('base64url');
  t.equal(await two.open([renamed, ...sealed.split('.').slice(1)].join('.')), null);
});

t.test('a code is redeemed once, and only in the browser that started the login', async (t) => {
  const { newBrowser, context, provider } = await setUp(t);
  const stopAtCallback = (url: string) => url.startsWith(`${BASE}/api/auth/callback`);
  const victim = newBrowser();
  const { url } = await victim.open('/api/auth/login', stopAtCallback);
  const attempt = victim.cookie('ep_login') ?? '';

  t.equal((await newBrowser().step(url)).status, 401, 'a browser without an attempt');
  const other = newBrowser();
  await other.step('/api/auth/login');
  t.equal((await other.step(url)).status, 401, 'a browser with another attempt');
  t.equal(await findIdentity(context.storage, { kind: 'oidc', issuer: provider.issuer, subject: 'ann' }), null);

  t.equal((await victim.step(url)).status, 302);
  const session = victim.cookie('ep_session');
  t.equal((await victim.step(url)).status, 401, 'reloading the callback');
  t.equal(victim.cookie('ep_session'), session, 'the login stays');
  const copy = newBrowser();
  copy.plant({ name: 'ep_login', value: attempt, path: '/api/auth' });
  const replayed = await copy.step(url);
  t.match([replayed.status, JSON.parse(replayed.body).code], [401, 'login_failed'], 'a copied attempt cookie');

  // The attacker's own code in the victim's attempt: the PKCE verifier does not match.
  const attacker = newBrowser();
  const stolen = new URL((await attacker.open('/api/auth/login', stopAtCallback)).url);
  const injected = new URL((await victim.open('/api/auth/login', stopAtCallback)).url);
  injected.searchParams.set('code', stolen.searchParams.get('code') ?? '');
  t.equal((await victim.step(injected.href)).status, 401);
});
