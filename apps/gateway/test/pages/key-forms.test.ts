import { randomBytes, randomUUID } from 'node:crypto';
import { insertKey, type KeyLimit, listKeys } from '@eloquentpoll/storage';
import t from 'tap';
import { rotateKey } from '../../src/accounts/keys/rotate-key.ts';
import { openSite } from '../fixtures/open-site.ts';
import { openDashboard } from '../fixtures/signed-in.ts';

// slow: 3 s

// Keys in a browser that runs no scripts, and what those forms do for anybody else.

const site = await openSite(t);
const { app, context } = site;
const FORM = { 'content-type': 'application/x-www-form-urlencoded' };
const works = async (key: string) =>
  (await app.inject({ url: '/api/keys', headers: { authorization: `Bearer ${key}` } })).statusCode;

t.test(
  '[§4.4-create-key, §2.8-plaintext-once, §5-rule-revoked] without scripts a key is made, shown once and revoked',
  async (t) => {
    const { accountId } = await site.keyWith(0);
    const page = await openDashboard(site, accountId, { javaScriptEnabled: false }, '/dashboard/keys');
    await page.getByLabel('Key name').fill('Build <b>server</b>');
    await page.getByRole('button', { name: 'Create key' }).click();
    await page.getByRole('heading', { name: 'Your new key' }).waitFor();
    const key = (await page.getByRole('region', { name: 'The new key' }).textContent()) ?? '';
    t.match(key, /^ep_k_\w{38}$/);
    t.equal(await works(key), 200);
    await page.getByRole('link', { name: 'To your keys' }).click();
    const row = page.getByRole('row', { name: 'Build <b>server</b>' });
    await row.waitFor();
    t.notOk((await page.content()).includes(key), 'it is shown once');

    await row.getByRole('link', { name: 'Revoke' }).click();
    await page.getByText('Build <b>server</b>').waitFor();
    await page.getByRole('link', { name: 'Keep it' }).click();
    await row.getByRole('link', { name: 'Revoke' }).click();
    t.equal(await works(key), 200, 'asking is not revoking');
    const question = page.url();
    await page.getByRole('button', { name: 'Revoke' }).click();
    await page.getByText('1 revoked or expired').waitFor();
    t.equal(await works(key), 401);
    await page.goto(question);
    t.equal(new URL(page.url()).pathname, '/dashboard/keys', 'there is nothing left to ask');
  },
);

t.test('[§4.4-create-201] the page with the new key is not cached; a label over the limit is refused', async (t) => {
  const { accountId } = await site.keyWith(0);
  const session = await site.sessionFor(accountId);
  const send = (payload: string) =>
    app.inject({ method: 'POST', url: '/dashboard/keys', headers: { ...session, ...FORM }, payload });
  const made = await send('label=laptop');
  t.equal(made.statusCode, 201);
  t.equal(made.headers['cache-control'], 'no-store');
  t.match(made.headers, { 'content-security-policy': /script-src 'self'/, 'referrer-policy': 'same-origin' });
  t.notMatch(site.log.join(''), /ep_k_\w{38}/);
  t.equal((await send(`label=${'x'.repeat(64)}`)).statusCode, 201);
  const refused = await send(`label=${'x'.repeat(65)}&limit=5&reset=daily&expires=30&read_only=on`);
  t.equal(refused.statusCode, 400);
  t.match(refused.body, /role="alert">A name has at most 64 characters/);
  for (const kept of [
    /value="x{65}"/,
    /value="5"/,
    /value="daily" selected/,
    /value="30" selected/,
    /read_only" checked/,
  ])
    t.match(refused.body, kept, 'what was typed stays');
  t.equal((await send('')).statusCode, 201, 'a label may be missing');
  t.equal((await listKeys(context.storage, accountId)).length, 4);
});

t.test('the page of the keys says what no key may read', async (t) => {
  const { accountId, bearer } = await site.keyWith(0);
  const session = await site.sessionFor(accountId);
  const { body } = await app.inject({ url: '/dashboard/keys', headers: session });
  const [sentence = ''] = /Deleting the account, .* are for you alone/.exec(body) ?? [];
  const paths = [...sentence.matchAll(/<code>(?:GET )?(\/api\/[\w/]+)<\/code>/g)].map(([, path]) => path!);
  t.same(paths, ['/api/balance', '/api/results', '/api/results/recent']);
  for (const url of paths) {
    t.equal((await app.inject({ url, headers: bearer })).statusCode, 401, url);
    t.equal((await app.inject({ url, headers: session })).statusCode, 200, url);
  }
});

t.test('a key is made with its terms, changed and rotated; the old one works until the overlap is over', async (t) => {
  const { accountId } = await site.keyWith(0);
  const session = await site.sessionFor(accountId);
  const send = (path: string, payload: string) =>
    app.inject({ method: 'POST', url: `/dashboard/keys${path}`, headers: { ...session, ...FORM }, payload });
  const keyOn = (body: string): string => /ep_k_\w{38}/.exec(body)?.[0] ?? '';
  const find = async (id: string) => (await listKeys(context.storage, accountId)).find((key) => key.id === id)!;
  const termsOf = ({ label, isReadOnly, limit }: { label: string; isReadOnly: boolean; limit: KeyLimit | null }) => ({
    ...{ label, isReadOnly, limitU: limit?.limitU, reset: limit?.reset },
  });

  const made = await send('', 'label=worker&limit=%242.50&reset=monthly&expires=30');
  const { id } = (await listKeys(context.storage, accountId)).find(({ label }) => label === 'worker')!;
  t.same(termsOf(await find(id)), { label: 'worker', isReadOnly: false, limitU: 2_500_000n, reset: 'monthly' });
  t.ok(Math.abs((await find(id)).expiresAt!.getTime() - Date.now() - 30 * 86_400_000) < 60_000);
  t.match((await app.inject({ url: '/dashboard/keys', headers: session })).body, /\$0 of \$2.50 per month/);

  for (const limit of ['-1', '1e3', 'abc', '10000000', '0.1234567'])
    t.match((await send(`/${id}`, `limit=${limit}&expires=keep`)).body, /role="alert">The limit is an amount/, limit);
  const before = (await find(id)).expiresAt;
  t.equal((await send(`/${id}`, 'label=worker&limit=3&reset=daily&expires=keep')).statusCode, 303);
  t.same(termsOf(await find(id)), { label: 'worker', isReadOnly: false, limitU: 3_000_000n, reset: 'daily' });
  t.same((await find(id)).expiresAt, before);

  const old = keyOn(made.body);
  const rotated = await send(`/${id}/rotate`, 'overlap=3600');
  t.equal(rotated.statusCode, 201);
  t.match(rotated.body, /The old key, .* works until/);
  const successor = (await listKeys(context.storage, accountId)).find(
    (key) => key.label === 'worker' && key.id !== id,
  )!;
  t.same(termsOf(successor), termsOf(await find(id)));
  t.same(successor.expiresAt, before, 'the new one ends when the old one would have');
  t.ok(Math.abs((await find(id)).expiresAt!.getTime() - Date.now() - 3_600_000) < 60_000);
  for (const key of [old, keyOn(rotated.body)]) t.equal(await works(key), 200, 'both work');
  t.equal((await send(`/${successor.id}/rotate`, 'overlap=0')).statusCode, 201);
  t.equal(await works(keyOn(rotated.body)), 401, 'without an overlap the old one ends at once');

  t.equal((await send(`/${id}`, 'label=free&limit=&expires=')).statusCode, 303);
  t.same(termsOf(await find(id)), { label: 'free', isReadOnly: false, limitU: undefined, reset: undefined });
  t.equal((await find(id)).expiresAt, null);
  const reader = keyOn((await send('', 'label=r&read_only=on')).body);
  const asked = { question: 'Which of the two is it?', options: ['A', 'B'] };
  const headers = { authorization: `Bearer ${reader}` };
  t.equal((await app.inject({ method: 'POST', url: '/api/poll', headers, payload: asked })).statusCode, 403);
});

t.test(
  'a rotation whose gateway died is finished by the same form sent again: no cache holds the old key',
  async (t) => {
    const { accountId } = await site.keyWith(0);
    const headers = await site.sessionFor(accountId);
    const old = (await app.inject({ method: 'POST', url: '/api/keys', headers, payload: {} })).json();
    t.equal(await works(old.key), 200);
    // Caching it was not waited for.
    await context.bus.redis.ping();
    const dies = new Error('dies after its commit');
    const silent = { forget: async () => {}, invalidate: () => Promise.reject(dies) };
    const rotation = { accountId, keyId: old.id, overlapMs: 0, formId: randomUUID() };
    const { keys } = context;
    await t.rejects(rotateKey({ ...context, keys: { ...keys, ...silent } }, rotation), dies);
    t.equal(await works(old.key), 200, 'it is still cached');
    await rotateKey(context, rotation);
    t.equal(await works(old.key), 401);
  },
);

t.test('a form that is sent twice makes one key, and both answers have it; a rotated key names its end', async (t) => {
  const { accountId } = await site.keyWith(0);
  const session = await site.sessionFor(accountId);
  const pageOf = async (path: string) => (await app.inject({ url: `/dashboard/keys${path}`, headers: session })).body;
  const send = (path: string, payload: string) =>
    app.inject({ method: 'POST', url: `/dashboard/keys${path}`, headers: { ...session, ...FORM }, payload });
  const twice = (path: string, payload: string) => Promise.all([send(path, payload), send(path, payload)]);
  const formOn = (body: string): string => /name="form" value="([\w-]{36})"/.exec(body)?.[1] ?? '';
  const keysOn = (answers: { body: string }[]) => answers.map(({ body }) => /ep_k_\w{38}/.exec(body)?.[0]);
  const named = async (label: string) =>
    (await listKeys(context.storage, accountId)).filter((key) => key.label === label);

  const form = formOn(await pageOf(''));
  const [first, second] = keysOn(await twice('', `label=ci&form=${form}`));
  t.match(first, /^ep_k_/);
  t.equal(second, first);
  t.equal(await works(first!), 200);
  const [made, ...others] = await named('ci');
  t.same(others, []);
  const [other] = keysOn([await send('', `label=ci+2&form=${formOn(await pageOf(''))}`)]);
  t.not(other, first, 'another form makes another');
  const stranger = await site.sessionFor((await site.keyWith(0)).accountId);
  const theirs = await app.inject({
    ...{ method: 'POST', url: '/dashboard/keys', headers: { ...stranger, ...FORM }, payload: `form=${form}` },
  });
  t.not(keysOn([theirs])[0], first, 'and so does the same one of another account');

  const rotation = formOn(await pageOf(`/${made!.id}`));
  const rotated = await twice(`/${made!.id}/rotate`, `overlap=3600&form=${rotation}`);
  const [successor, same] = keysOn(rotated);
  t.equal(same, successor);
  t.same((await named('ci')).length, 2, 'it is rotated once');
  t.notMatch(rotated[0]!.body, 'This key works until', 'a key without an end has one that has none');
  const { expiresAt } = (await named('ci')).find(({ id }) => id === made!.id)!;
  const later = await send(`/${made!.id}/rotate`, `overlap=604800&form=${rotation}`);
  t.same(keysOn([later]), [successor]);
  t.same(
    (await named('ci')).find(({ id }) => id === made!.id)!.expiresAt,
    expiresAt,
    'a repeated form changes nothing',
  );

  t.match(await pageOf(`/${made!.id}`), /The new key ends when this one would: <time/);
  const again = await send(`/${made!.id}/rotate`, `overlap=0&form=${formOn(await pageOf(`/${made!.id}`))}`);
  t.match(again.body, /This key works until <time[^>]*>[^<]*<\/time>, when the old one would have ended/);

  await site.asOwner(`update api_keys set created_at = now() - interval '1 hour' where id = '${made!.id}'`);
  t.equal((await send('', `label=ci&form=${form}`)).statusCode, 303, 'later it is not shown again');
  const [kept] = await named('ci 2');
  await send(`/${kept!.id}/revoke`, '');
  t.equal((await named('ci 2')).length, 1);
});

t.test('[§5-rule-401] the forms are of who is signed in, sent from here, about keys of their own', async (t) => {
  const { accountId, bearer } = await site.keyWith(0);
  const [key] = await listKeys(context.storage, accountId);
  const session = await site.sessionFor(accountId);
  const other = await site.sessionFor((await site.keyWith(0)).accountId);
  const revoke = `/dashboard/keys/${key!.id}/revoke`;
  const send = async (url: string, headers: Record<string, string>) =>
    (await app.inject({ method: 'POST', url, headers: { ...headers, ...FORM }, payload: 'label=x' })).statusCode;
  const active = async () => (await listKeys(context.storage, accountId)).filter(({ revokedAt }) => !revokedAt).length;

  const { cookie } = session;
  for (const url of ['/dashboard/keys', `/dashboard/keys/${key!.id}`, `/dashboard/keys/${key!.id}/rotate`, revoke]) {
    t.equal(await send(url, {}), 401);
    t.equal(await send(url, { ...bearer }), 401, 'a form is no place for a bearer');
    for (const headers of [
      { cookie, origin: 'https://evil.example' },
      { cookie, origin: 'null' },
    ])
      t.equal(await send(url, headers), 403, JSON.stringify(headers));
    t.equal(await send(url, { cookie, 'sec-fetch-site': 'cross-site' }), 403);
  }
  t.equal((await app.inject({ url: revoke })).statusCode, 401);
  t.equal(
    (await app.inject({ url: revoke, headers: other })).statusCode,
    303,
    'nothing is shown of the key of another account',
  );
  t.equal(await send(revoke, other), 303);
  t.equal(await send(`/dashboard/keys/${key!.id}`, other), 303);
  t.equal(await send(`/dashboard/keys/${key!.id}/rotate`, other), 303);
  t.equal(await send('/dashboard/keys/nonsense/revoke', session), 400);
  t.equal(await active(), 1);
  t.equal(await send(revoke, session), 303);
  t.equal(await active(), 0);
});

t.test('[§4.4-create-key] with a hundred keys, the forms say what to do, and nothing changes', async (t) => {
  const { accountId } = await site.keyWith(0);
  const headers = { ...(await site.sessionFor(accountId)), ...FORM };
  const send = (path: string, payload = '') =>
    app.inject({ method: 'POST', url: `/dashboard/keys${path}`, headers, payload });
  const keys = async () => (await listKeys(context.storage, accountId)).map(({ id, expiresAt }) => ({ id, expiresAt }));
  await Promise.all(
    Array.from({ length: 99 }, () =>
      insertKey(context.storage, { accountId, hash: randomBytes(32), prefix: 'ep_k_', label: 'one' }),
    ),
  );
  const before = await keys();
  t.equal(before.length, 100);
  for (const path of ['', `/${before[0]!.id}/rotate`]) {
    const refused = await send(path, 'label=one+more');
    t.equal(refused.statusCode, 400);
    t.match(refused.headers['content-type'], 'text/html');
    t.match(refused.body, /role="alert">The account has the maximum number of active API keys; revoke one first\./);
    t.match(refused.body, 'one more', 'it keeps what was typed');
  }
  t.same(await keys(), before);
});
