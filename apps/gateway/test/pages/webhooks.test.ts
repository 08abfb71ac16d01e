import { listWebhookEndpoints } from '@eloquentpoll/storage';
import type { Page } from '@eloquentpoll/testkit/browser';
import t from 'tap';
import { webhooksPage } from '../../src/pages/dashboard/webhooks-page.ts';
import { openSite } from '../fixtures/open-site.ts';
import { draw, LOOKS, problemsOf } from '../fixtures/page-problems.ts';
import { logIn, openDashboard } from '../fixtures/signed-in.ts';
import { standInWorker } from '../fixtures/stand-in-worker.ts';

// slow: 6 s

// Webhooks by their operations and on their pages, which run no script.

const webhooks = { sealingKeys: ['a sealing key of at least 32 characters'], toLoopback: false };
const site = await openSite(t, { webhooks });
const { app, context, asOwner } = site;
await standInWorker(t, context);
const API = '/api/webhook-endpoints';
const URL_ = 'https://app.example.com/hooks';
const POLL = { question: 'Which of these is the best choice?', options: ['A', 'B'] };

async function caller() {
  const { accountId, bearer: headers } = await site.keyWith(10);
  const send = async (method: 'GET' | 'POST' | 'PATCH' | 'DELETE', url: string, payload?: object) => {
    const answer = await app.inject({ method, url, headers, ...(payload && { payload }) });
    return { http: answer.statusCode, ...answer.json() };
  };
  return { accountId, headers, send };
}

t.test('an endpoint is registered, changed, given a new secret and removed; its secret is stored sealed', async (t) => {
  const { accountId, send } = await caller();
  const made = await send('POST', API, { url: URL_, event_types: ['poll.completed'] });
  t.match(made, { http: 201, url: URL_, event_types: ['poll.completed'], secret: /^whsec_/, pending: 0 });
  const path = `${API}/${made.endpoint_id}`;
  t.equal((await send('GET', `${path}/secret`)).secret, made.secret);
  const [stored] = await listWebhookEndpoints(context.storage, accountId);
  t.notMatch(JSON.stringify(stored), made.secret.slice(6, 20));
  const rotated = await send('POST', `${path}/rotate-secret`, { overlap_s: 60 });
  t.not(rotated.secret, made.secret);
  t.ok(new Date(rotated.previous_secret_until).getTime() > Date.now());
  t.match(await send('PATCH', path, { status: 'disabled', description: 'night' }), {
    status: 'disabled',
    disabled_reason: 'owner',
    description: 'night',
  });
  t.match(await send('POST', `${path}/test`), { code: 'webhook_disabled' });
  t.match(await send('PATCH', path, { status: 'enabled' }), { disabled_reason: null });
  t.match(await send('POST', `${path}/test`), { type: 'webhook.test', attempts: 0, url: URL_ });
  t.match(await send('GET', `${path}/deliveries`), { deliveries: [{ type: 'webhook.test' }], after: null });
  t.match(await send('DELETE', path), { removed: true });
  t.match(await send('GET', path), { code: 'webhook_endpoint_not_found' });
  t.same((await send('GET', API)).endpoints, []);
});

t.test('an endpoint that is removed while a test event is sent is not found', async (t) => {
  const { send } = await caller();
  const { endpoint_id } = await send('POST', API, { url: URL_, event_types: ['poll.completed'] });
  // As if it were removed between the event and its answer.
  await asOwner(`create function remove_meanwhile() returns trigger language plpgsql as
    'begin delete from webhook_deliveries where id = new.id; return null; end'`);
  await asOwner(`create constraint trigger removed_meanwhile after insert on webhook_deliveries
    deferrable initially deferred for each row execute function remove_meanwhile()`);
  t.match(await send('POST', `${API}/${endpoint_id}/test`), { http: 404, code: 'webhook_endpoint_not_found' });
  await asOwner('drop trigger removed_meanwhile on webhook_deliveries');
  t.match(await send('POST', `${API}/${endpoint_id}/test`), { http: 202, type: 'webhook.test' });
});

t.test('a form that is sent twice adds one endpoint, and replaces its secret once', async (t) => {
  const { accountId, send } = await caller();
  const session = await site.sessionFor(accountId);
  const pageOf = async (url: string) => (await app.inject({ url, headers: session })).body;
  const post = (url: string, fields: Record<string, string>) =>
    app.inject({
      ...{ method: 'POST', url, payload: String(new URLSearchParams(fields)) },
      headers: { ...session, 'content-type': 'application/x-www-form-urlencoded' },
    });
  const hidden = (body: string, name: string): string =>
    new RegExp(`name="${name}" value="([\\w-]{32,36})"`).exec(body)![1]!;

  const fields = {
    url: URL_,
    event_types: 'poll.completed',
    form: hidden(await pageOf('/dashboard/webhooks'), 'form'),
  };
  const added = await Promise.all([post('/dashboard/webhooks', fields), post('/dashboard/webhooks', fields)]);
  t.equal(added[0]!.headers.location, added[1]!.headers.location);
  const { endpoints } = await send('GET', API);
  t.equal(endpoints.length, 1);
  const own = `/dashboard/webhooks/${endpoints[0].endpoint_id}`;
  const secret = async () => (await send('GET', `${API}/${endpoints[0].endpoint_id}/secret`)).secret;
  const first = await secret();

  const replaces = hidden(await pageOf(own), 'replaces');
  t.equal((await post(`${own}/rotate`, { replaces })).statusCode, 303);
  const second = await secret();
  t.not(second, first);
  t.equal((await post(`${own}/rotate`, { replaces })).statusCode, 303);
  t.equal(await secret(), second, 'the repeated form changed nothing, and the first secret still signs');
  const page = await pageOf(own);
  t.match(page, 'The secret before this one stops signing at once');
  await post(`${own}/rotate`, { replaces: hidden(page, 'replaces') });
  t.not(await secret(), second, 'a form that was loaded since does');
});

t.test('addresses inside, other ports and names of users are refused, by field', async (t) => {
  const { send } = await caller();
  for (const url of [
    'http://app.example.com/',
    'https://10.0.0.1/',
    'https://localhost/',
    'https://app.example.com:6379/',
    'https://ada:pw@app.example.com/',
    'https://[::ffff:169.254.169.254]/',
    'no url',
  ]) {
    t.match(await send('POST', API, { url }), { http: 400, code: 'validation_error', error: /^url must/ }, url);
    const poll = { ...POLL, webhook_url: url };
    t.match(await send('POST', '/api/polls', poll), { http: 400, error: /^webhook_url must/ }, url);
  }
  t.match(await send('POST', API, { url: URL_, event_types: ['poll.*'] }), { http: 400, error: /event_types/ });
  t.match(await send('POST', API, { url: URL_, event_types: [] }), {
    error: 'event_types must contain at least 1 item',
  });
  const made = await send('POST', API, { url: URL_ });
  t.match(await send('PATCH', `${API}/${made.endpoint_id}`, { url: 'https://192.168.0.1/' }), { http: 400 });
  t.match(await send('PATCH', `${API}/account`, { status: 'disabled' }), { code: 'webhook_endpoint_not_found' });
  t.match(await send('POST', `${API}/account/test`), { http: 400, error: /webhook_url/ });
  t.match(await send('POST', '/api/poll', { ...POLL, webhook_url: URL_ }), { http: 400, error: /webhook_url/ });
});

t.test(
  'a session with a webhook_url has its end noted for that address; the account has a secret for it',
  async (t) => {
    const { accountId, headers, send } = await caller();
    const { session_id: session } = await send('POST', '/api/polls', {
      ...POLL,
      webhook_url: `${URL_}#x`.slice(0, -2),
    });
    await app.inject({ url: `/api/polls/${session}/status`, headers: { ...headers, prefer: 'wait=20' } });
    const events = (await asOwner(
      `select type, url, data ->> 'session_id' as session from webhook_events where account_id = '${accountId}'`,
    )) as { type: string; url: string; session: string }[];
    t.same(events, [{ type: 'poll.completed', url: URL_, session }]);
    t.match(await send('GET', `${API}/account/secret`), { endpoint_id: 'account', secret: /^whsec_/ });
    t.same((await send('GET', API)).endpoints, [], 'it is none that was registered');
  },
);

t.test('without scripts an endpoint is added, tested, disabled, given a new secret and removed', async (t) => {
  const { accountId } = await site.keyWith(0);
  const page = await openDashboard(site, accountId, { javaScriptEnabled: false }, '/dashboard/webhooks');
  await page.getByLabel('Address').fill('https://10.0.0.1/hooks');
  await page.getByRole('button', { name: 'Add endpoint' }).click();
  await page.getByText('url must lead to a public address').waitFor();
  t.equal(await page.getByLabel('Address').inputValue(), 'https://10.0.0.1/hooks', 'what was written stays');
  await page.getByLabel('Address').fill(URL_);
  await page.getByLabel(/balance\.low/).uncheck();
  await page.getByRole('button', { name: 'Add endpoint' }).click();
  await page.getByRole('heading', { name: URL_ }).waitFor();
  const [made] = await listWebhookEndpoints(context.storage, accountId);
  t.notOk(made!.eventTypes.includes('balance.low'));
  await page.getByRole('button', { name: 'Send a test event' }).click();
  await page.getByRole('row', { name: /webhook\.test/ }).waitFor();
  await page.getByText('Show the secret').click();
  const secret = await page.getByRole('region', { name: 'The signing secret' }).textContent();
  await page.getByText('Replace it').click();
  await page.getByRole('button', { name: 'Make a new secret' }).click();
  await page.getByText('messages are also signed with the previous secret').waitFor();
  await page.getByText('Show the secret').click();
  t.not(await page.getByRole('region', { name: 'The signing secret' }).textContent(), secret);
  await page.getByRole('button', { name: 'Disable' }).click();
  await page.getByText('by you').waitFor();
  await page.getByRole('button', { name: 'Enable' }).click();
  await page
    .getByRole('row', { name: /webhook\.test/ })
    .getByRole('button', { name: /Resend/ })
    .click();
  await page.getByRole('row', { name: /pending/ }).waitFor();
  await page.getByText('Remove it').click();
  await page.getByRole('button', { name: 'Remove' }).click();
  await page.getByText('None yet.').waitFor();
  const gone = await app.inject({ url: `/dashboard/webhooks/${made!.id}`, headers: await site.sessionFor(accountId) });
  t.equal(gone.statusCode, 404);
});

/** An endpoint of every kind, and a log with every state. */
async function filled(): Promise<{ accountId: string; failing: string }> {
  const { accountId, send } = await caller();
  const ids: string[] = [];
  for (const url of [
    URL_,
    'https://hooks.a-rather-long-name-of-a-customer.example.com/services/T0/B0/abcdefghijklmnop',
    'https://old.example.com/',
  ])
    ids.push((await send('POST', API, { url, description: ids.length === 0 ? 'Production' : '' })).endpoint_id);
  const [, failing, gone] = ids;
  const sql = `
    update webhook_endpoints set failing_since = now() - interval '5 hours', skipped = 12 where id = '${failing}';
    update webhook_endpoints set disabled_at = now(), disabled_why = 'gone' where id = '${gone}'`;
  for (const type of ['poll.completed', 'poll.failed', 'batch.completed'])
    await asOwner(
      `select note_webhook_event('${accountId}', '${type}', '{"session_id":"ps_0123456789abcdefghjkmnpq"}')`,
    );
  await asOwner(sql);
  await asOwner('select spread_webhook_events(100, 100)');
  const log = (entry: object) =>
    `log = '${JSON.stringify([{ at: '2026-11-22T10:00:00.000Z', took_ms: 231, ...entry }])}'`;
  const set = (nth: number, what: string) =>
    asOwner(`update webhook_deliveries set attempts = 3, ${what} where id = (
      select id from webhook_deliveries where endpoint_id = '${failing}' order by id offset ${nth} limit 1)`);
  await set(0, `status = 'delivered', ended_at = now(), ${log({ http_status: 200, error: null })}`);
  await set(1, `status = 'failed', ended_at = now(), ${log({ http_status: null, error: 'tls_failed' })}`);
  await set(2, `due_at = now() + interval '2 hours', ${log({ http_status: 503, error: null })}`);
  return { accountId, failing: failing! };
}

t.test('the form says where messages may go: on a machine for development, to itself too', (t) => {
  t.match(webhooksPage('', [], { toLoopback: true }), 'and public; or on this machine, such as http://localhost:3000/');
  t.notMatch(webhooksPage('', [], { toLoopback: false }), 'on this machine');
  t.end();
});

t.test('the pages fit every width and have no problem that axe calls serious', async (t) => {
  const { accountId, failing } = await filled();
  for (const { colorScheme, width } of LOOKS) {
    const page: Page = await site.open('/logo.svg', { colorScheme, viewport: { width, height: 900 }, bypassCSP: true });
    await logIn(site, accountId, page);
    for (const [name, path] of [
      ['webhooks', '/dashboard/webhooks'],
      ['webhook', `/dashboard/webhooks/${failing}`],
    ] as const) {
      await page.goto(path);
      t.same(await problemsOf(page), [], `${name}, ${width} wide, ${colorScheme}`);
      await draw(page, `${name}-${width}-${colorScheme}`);
    }
  }
});
