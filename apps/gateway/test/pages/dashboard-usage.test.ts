import t from 'tap';
import { createKey } from '../../src/accounts/keys/issue-key.ts';
import { build } from '../fixtures/build.ts';
import { standInWorker } from '../fixtures/stand-in-worker.ts';

// slow: 3 s

// The usage page: four figures, days, groups, its export, and the low balance.

const gateway = await build(t);
const { app, context, keyWith, sessionFor } = gateway;
await standInWorker(t, context, { opinion: (seat, { question }) => (question.includes('split') ? seat % 2 : 0) });
const { accountId, bearer } = await keyWith(1);
const session = await sessionFor(accountId);
const { key: second, id: secondId } = await createKey(context, { accountId, label: '<i>night</i>, =1+1' }, {});
const FORM = { 'content-type': 'application/x-www-form-urlencoded' };
const ask = (headers: Record<string, string>, payload: object = {}) =>
  app.inject({
    method: 'POST',
    url: '/api/poll',
    headers,
    payload: { question: 'Which of the two is it?', options: ['A', 'B'], ...payload },
  });
const get = (path: string, headers: Record<string, string> = session) => app.inject({ url: path, headers });

t.test('an account without polls has figures of zero and a way on', async (t) => {
  const page = await get('/dashboard/usage');
  t.equal(page.statusCode, 200);
  t.match(page.body, /No poll ended in this time/);
  t.notMatch(page.body, /<svg width/);
  t.match((await get('/dashboard/usage', {})).body, /<h1>Sign in<\/h1>/);
});

t.test('what the page shows is what its export has, in both forms, under the same filters', async (t) => {
  for (let i = 0; i < 3; i++) await ask(bearer);
  await ask({ authorization: `Bearer ${second}` }, { question: 'Where is the panel split?', preset: 'fast' });
  await ask(session);
  // Two of the polls, and twice as many before, long ago.
  await gateway.asOwner(`insert into usage_days
    select account_id, day - 30, key_id, preset, surface, 2 * polls, completed, failed, canceled, split_or_partial,
           2 * cost_u, saved_u, ms_counts, cost_counts from usage_days where account_id = '${accountId}' and key_id = '${secondId}'`);

  const { body } = await get('/dashboard/usage');
  const view = (await get('/dashboard/usage/export?format=json')).json();
  t.equal(view.days.length, 30);
  t.match(view.total, { polls: 5, completed: 5 });
  t.match(view.previous, { polls: 2 });
  t.match(body, '<bdi>&lt;i&gt;night&lt;/i&gt;, =1+1</bdi>');
  t.match(body, 'Without a key');
  t.match(body, /<dt>Polls<\/dt><dd>5<span class="change muted">\+150% against the 30 days before/);
  t.match(body, new RegExp(`<title>${view.to}: `));
  t.equal(
    view.groups.reduce((sum: number, { polls }: { polls: number }) => sum + polls, 0),
    5,
  );
  const today = view.days.at(-1);
  t.ok(Math.abs(today.parts.reduce((sum: number, part: number) => sum + part, 0) - today.cost_usd) < 1e-9);

  const csv = (await get('/dashboard/usage/export?format=csv')).body.trimEnd().split('\r\n');
  t.match(csv[0], /^kind,from,to,group,label,polls,/);
  t.equal(csv.filter((line) => line.startsWith('key,')).length, view.groups.length);
  t.equal(csv.filter((line) => line.startsWith('day,')).length, 30);

  const filtered = `days=7&by=preset&key=${secondId}`;
  t.match((await get(`/dashboard/usage/export?format=json&${filtered}`)).json(), {
    by: 'preset',
    total: { polls: 1 },
    groups: [{ group: 'fast' }],
  });
  t.match((await get(`/dashboard/usage?${filtered}`)).body, /value="7" selected.*value="preset" selected/s);
  const none = (await get('/dashboard/usage/export?format=json&key=none&by=surface')).json();
  t.match(none, { total: { polls: 1 }, groups: [{ polls: 1 }] }, 'polls of a login');
  for (const strange of ['days=8&by=x&key=x&preset=x&surface=%3Cb%3E', 'key=__proto__'])
    t.match((await get(`/dashboard/usage/export?format=json&${strange}`)).json(), { total: { polls: 5 } });
  t.equal((await get('/dashboard/usage/export?format=json', {})).statusCode, 401);
});

t.test('a low balance is set by a form and shown on top of the pages', async (t) => {
  const send = (payload: string, headers: Record<string, string> = session) =>
    app.inject({ method: 'POST', url: '/dashboard/usage/low-balance', headers: { ...headers, ...FORM }, payload });
  for (const wrong of ['-1', 'much', '0', '1e9', '99999999']) {
    const refused = await send(`amount=${wrong}`);
    t.equal(refused.statusCode, 400);
    t.match(refused.body, /role="alert">Enter an amount in dollars/);
  }
  t.notMatch((await get('/dashboard')).body, 'Your balance is low');
  t.equal((await send('amount=%245')).statusCode, 303);
  for (const path of ['/dashboard', '/dashboard/usage'])
    t.match((await get(path)).body, /Your balance is low.*warned below \$5/s, path);
  t.equal((await send('amount=')).statusCode, 303);
  t.notMatch((await get('/dashboard')).body, 'Your balance is low');
  t.equal((await send('amount=1', {})).statusCode, 401);
  const { cookie } = session;
  t.equal((await send('amount=1', { cookie: cookie!, origin: 'https://evil.example' })).statusCode, 403);
});
