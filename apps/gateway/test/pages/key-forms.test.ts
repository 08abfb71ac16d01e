import { listKeys } from '@eloquentpoll/storage';
import t from 'tap';
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

    await row.getByRole('button', { name: 'Revoke' }).click();
    await page.getByText('Build <b>server</b>').waitFor();
    await page.getByRole('link', { name: 'Keep it' }).click();
    await row.getByRole('button', { name: 'Revoke' }).click();
    t.equal(await works(key), 200, 'asking is not revoking');
    const question = page.url();
    await page.getByRole('button', { name: 'Revoke' }).click();
    await page.getByText('1 revoked').waitFor();
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
  t.match((await send(`label=${'x'.repeat(65)}`)).json(), { code: 'validation_error', error: /at most 64/ });
  t.equal((await send('')).statusCode, 201, 'a label may be missing');
  t.equal((await listKeys(context.storage, accountId)).length, 4);
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
  for (const url of ['/dashboard/keys', revoke]) {
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
  t.equal(await send('/dashboard/keys/nonsense/revoke', session), 400);
  t.equal(await active(), 1);
  t.equal(await send(revoke, session), 303);
  t.equal(await active(), 0);
});
