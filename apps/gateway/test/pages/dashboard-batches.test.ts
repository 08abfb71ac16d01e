import { eventually } from '@eloquentpoll/testkit/eventually';
import t from 'tap';
import { keepBatchesRunning } from '../../src/batches/run/keep-batches-running.ts';
import { readPolicies } from '../../src/config/rate-limit-policies.ts';
import { batchPage } from '../../src/pages/dashboard/batches/batch-page.ts';
import { usdDown } from '../../src/pages/figures.ts';
import { openSite } from '../fixtures/open-site.ts';
import { openDashboard } from '../fixtures/signed-in.ts';
import { standInWorker } from '../fixtures/stand-in-worker.ts';

// slow: 8 s

// Batches on the dashboard: checked, started once, followed, canceled and deleted by forms.

const site = await openSite(t);
const { app, context } = site;
const { accountId } = await site.keyWith(20);
const session = await site.sessionFor(accountId);

const ROWS = `custom_id,question,options,gold
<i>one</i>,Which is larger of these two?,The Sun | The Moon,The Sun
two,On which is the panel split here?,Yes | No,No
`;
const BOUNDARY = 'made-up-boundary';
const formOf = (fields: Record<string, string>): string =>
  `${Object.entries(fields)
    .map(([name, value]) => `--${BOUNDARY}\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`)
    .join('')}--${BOUNDARY}--\r\n`;
const send = (path: string, fields: Record<string, string>, headers: Record<string, string> = session) =>
  app.inject({
    method: 'POST',
    url: `/dashboard/batches${path}`,
    headers: { ...headers, 'content-type': `multipart/form-data; boundary=${BOUNDARY}` },
    payload: formOf(fields),
  });
const get = (path: string, headers: Record<string, string> = session) =>
  app.inject({ url: `/dashboard/batches${path}`, headers });
const batches = async () => (await app.inject({ url: '/api/batches', headers: session })).json().batches;
const BAD = 'question,options\nWhich of these is it?,A | B\nToo few options here,A\n';

t.test('a check says count, expected and worst cost, or every error by its line; nothing is stored', async (t) => {
  const found = await send('/check', { preset: 'fast', max_cost_usd: '5', rows: ROWS });
  t.equal(found.statusCode, 200);
  t.match(found.body, /<dt>Rows<\/dt><dd>2<.*<dt>Expected<\/dt><dd>about \$0\.0.*<dt>At most<\/dt><dd>\$0\.0/s);
  t.match(found.body, '&lt;i&gt;one&lt;/i&gt;,Which is larger', 'what was pasted stays');
  t.match(found.body, /value="fast" selected/);

  const bad = await send('/check', { rows: BAD });
  t.match(bad.body, /1 error in the rows/);
  t.match(bad.body, /<th scope="row" class="number">3<\/th>.*<td class="mono">options<\/td>/s);
  t.match((await send('/check', { rows: BAD, skip_invalid: 'on' })).body, /These rows are left out.*<dd>1</s);
  t.match((await send('/check', { rows: '' })).body, 'There are no rows yet.');
  const poor = await site.sessionFor((await site.keyWith(0)).accountId);
  t.match((await send('/check', { rows: ROWS }, poor)).body, /Not enough balance.*Add funds/s);
  t.equal((await send('/check', { rows: ROWS }, {})).statusCode, 401);
  const { cookie } = session;
  t.equal((await send('', { rows: ROWS }, { cookie: cookie!, origin: 'https://evil.example' })).statusCode, 403);

  const typed = { ...session, 'content-type': 'application/x-www-form-urlencoded' };
  for (const path of ['', '/check'])
    t.equal(
      (await app.inject({ method: 'POST', url: `/dashboard/batches${path}`, headers: typed, payload: 'rows=x' }))
        .statusCode,
      415,
    );

  for (const [fields, status, said] of [
    [{ rows: BAD }, 400, /1 error in the rows.*nothing is charged/s],
    [{ rows: '' }, 400, /error in the rows/],
  ] as const) {
    const refused = await send('', fields);
    t.equal(refused.statusCode, status);
    t.match(refused.body, said);
  }
  t.equal((await send('', { rows: ROWS }, poor)).statusCode, 402);
  t.same(await batches(), []);
});

t.test('the limit that a batch is offered where the balance is too low is one that it can have', async (t) => {
  // To the nearest figure it would be more than there is.
  const poor = await site.sessionFor((await site.keyWith(0.012369)).accountId);
  const refused = await send('/check', { preset: 'strong', rows: ROWS }, poor);
  const [, offered = ''] = /set a limit of \$([\d.]+) or less/.exec(refused.body) ?? [];
  t.equal(offered, '0.0123');
  const limited = await send('/check', { preset: 'strong', rows: ROWS, max_cost_usd: offered }, poor);
  t.match(limited.body, 'is reserved at the start');
  for (const [amount, shown] of [
    [12.349, '$12.34'],
    [12.34, '$12.34'],
    [1.15, '$1.15'],
    [0.999_999, '$0.999'],
    [0.001_239, '$0.00123'],
    [0, '$0'],
  ] as const)
    t.equal(usdDown(amount), shown);
});

t.test('what was typed stays where a batch is refused by its rate, or its caller is signed out', async (t) => {
  const few = await openSite(t, { rateLimits: readPolicies('batch_check=2/3600,batch=1/3600') });
  const { accountId: owner } = await few.keyWith(20);
  const page = await openDashboard(few, owner, {}, '/dashboard/batches');
  const rows = page.getByLabel('Rows, as CSV');
  const start = page.getByRole('button', { name: 'Start batch' });
  const check = page.locator('#check');
  for (const [typed, said] of [
    [BAD, '1 error in the rows'],
    [ROWS, 'is reserved at the start'],
    [BAD, 'At most 2 calls in 3600 seconds'],
  ] as const) {
    await rows.fill(typed);
    await check.getByText(said).waitFor();
    t.equal(await rows.inputValue(), typed);
  }
  await rows.fill(ROWS);
  await start.click();
  await page.getByText('0 of 2 rows have ended').waitFor();

  await page.goto('/dashboard/batches');
  await rows.fill(ROWS);
  await start.click();
  await check.getByText('At most 1 calls in 3600 seconds').waitFor();
  t.equal(await rows.inputValue(), ROWS);
  const multipart = { 'content-type': `multipart/form-data; boundary=${BOUNDARY}` };
  const sent = (headers: Record<string, string>) =>
    few.app.inject({
      method: 'POST',
      url: '/dashboard/batches',
      headers,
      payload: formOf({ preset: 'fast', rows: ROWS }),
    });
  const refused = await sent({ ...(await few.sessionFor(owner)), ...multipart });
  t.equal(refused.statusCode, 429);
  t.match(refused.headers['content-type'], 'text/html');
  t.ok(Number(refused.headers['retry-after']) > 0);
  t.match(refused.body, /role="alert">At most 1 calls in 3600 seconds/);
  t.match(refused.body, '&lt;i&gt;one&lt;/i&gt;,Which is larger', 'without scripts, too');

  await page.context().clearCookies();
  await start.click();
  await check.getByText('You are signed out by now').waitFor();
  t.equal(await rows.inputValue(), ROWS);
  const stranger = await few.app.inject({
    ...{ method: 'POST', url: '/dashboard/batches', remoteAddress: '203.0.113.7' },
    ...{ headers: multipart, payload: formOf({ preset: 'fast', rows: ROWS }) },
  });
  t.equal(stranger.statusCode, 401);
  t.match(stranger.body, '&lt;i&gt;one&lt;/i&gt;,Which is larger');
});

t.test('a later check ends the one before it, and a file is not sent again for other terms', async (t) => {
  const page = await openDashboard(site, accountId, {}, '/dashboard/batches');
  const asked: string[] = [];
  await page.route('**/dashboard/batches/check', async (route) => {
    asked.push(route.request().postData() ?? '');
    // The first two are never answered.
    if (asked.length > 2) await route.continue();
  });
  const rows = page.getByLabel('Rows, as CSV');
  const busy = page.locator('#check[aria-busy]');
  await rows.fill(BAD);
  await eventually('the first check is under way', () => asked.length === 1);
  t.equal(await busy.count(), 1);
  await rows.fill('');
  await eventually('where there are no rows nothing is checked', async () => (await busy.count()) === 0);
  await rows.fill(BAD);
  await eventually('the second check is under way', () => asked.length === 2);
  const ended = page.waitForEvent('requestfailed');
  await rows.fill('');
  await page
    .getByLabel('Or a file')
    .setInputFiles({ name: 'rows.csv', mimeType: 'text/csv', buffer: Buffer.from(ROWS) });
  await page.getByText('is reserved at the start').waitFor();
  t.match((await ended).url(), '/check', 'it was ended');

  await page.getByLabel('Name (optional)').fill('nightly');
  await page.getByLabel('Confidence threshold').fill('0.9');
  await page.getByText('Check again to see what these terms come to.').waitFor();
  t.equal(asked.length, 3);
  await page.getByRole('button', { name: 'Check and estimate' }).click();
  await page.getByText('is reserved at the start').waitFor();
  t.equal(asked.length, 4);
});

t.test('the same form starts one batch; it is followed to its end, close calls first', async (t) => {
  const fields = { 'metadata[name]': 'Nightly <b>run</b>', preset: 'fast', rows: ROWS };
  const key = '0a1b2c3d-0000-4000-8000-0123456789ab';
  const first = await send(`?form=${key}`, fields);
  const second = await send(`?form=${key}`, fields);
  t.same([first.statusCode, second.headers.location], [303, first.headers.location]);
  const [batch, ...others] = await batches();
  t.same(others, []);
  const path = `/${batch.batch_id}`;
  t.match((await get(path)).body, /0 of 2 rows have ended.*2 waiting.*data-running|data-running.*2 waiting/s);
  t.match((await get('')).body, 'Nightly &lt;b&gt;run&lt;/b&gt;');

  const FORM = { 'content-type': 'application/x-www-form-urlencoded' };
  const act = (what: string, headers: Record<string, string>) =>
    app.inject({ method: 'POST', url: `/dashboard/batches${path}/${what}`, headers: { ...headers, ...FORM } });
  t.equal((await act('delete', session)).statusCode, 409, 'one that runs is not deleted, and its page does not say so');
  t.equal((await batches()).length, 1);

  const page = await openDashboard(site, accountId, {}, `/dashboard/batches${path}`);
  await page.getByText('0 of 2 rows have ended').waitFor();
  await standInWorker(t, context, {
    lane: 'flex',
    opinion: (seat, { question }) => (question.includes('split') ? seat % 2 : 0),
  });
  await using _ = keepBatchesRunning(context, 200);
  await page.getByText('2 of 2 rows have ended').waitFor();
  await page.getByRole('heading', { name: 'Close calls' }).waitFor();
  await eventually('the rows are taken anew', async () => (await page.locator('#rows').getByText('Right').count()) > 0);
  const body = (await get(path)).body;
  t.match(body, /id="close">.*<bdi>two<\/bdi>.*id="rows".*<bdi>&lt;i&gt;one/s);
  t.match(body, /data-tone="good">Right</);
  t.match(body, new RegExp(`/dashboard/batches${path}/report`));

  const other = await site.sessionFor((await site.keyWith(0)).accountId);
  t.equal((await get(path, other)).statusCode, 303, 'a batch of another account is none');
  t.equal((await act('delete', other)).statusCode, 303);
  t.equal((await batches()).length, 1);
  t.equal((await act('delete', {})).statusCode, 401);
  t.equal((await act('delete', session)).statusCode, 303);
  t.same(await batches(), []);
});

t.test('a waiting batch is canceled by its form; dropped rows are checked by themselves', async (t) => {
  const page = await openDashboard(site, accountId, {}, '/dashboard/batches');
  await page.getByLabel('Rows, as CSV').fill(BAD);
  await page.getByText('1 error in the rows').waitFor();
  await page.getByLabel('Rows, as CSV').fill(ROWS);
  await page.getByText('is reserved at the start').waitFor();
  await page.getByRole('button', { name: 'Start batch' }).click();
  await page
    .getByText('2 of 2 rows have ended')
    .or(page.getByText(/0 of 2|1 of 2/))
    .first()
    .waitFor();
  const [batch] = await batches();
  const headers = { ...session, 'content-type': 'application/x-www-form-urlencoded' };
  const canceled = await app.inject({ method: 'POST', url: `/dashboard/batches/${batch.batch_id}/cancel`, headers });
  t.equal(canceled.statusCode, 303);
  t.match((await batches())[0].status, /cancel|completed/);

  const shown = (rows: number) => {
    const ended = { ...batch, counts: { ...batch.counts, not_run: rows }, not_run_reason: 'canceled' };
    return batchPage('', { batch: ended, close: [], rows: [], afterLine: 0, hasMore: false });
  };
  t.match(shown(1), '1 row was not run: the batch was canceled.');
  t.match(shown(2), '2 rows were not run: the batch was canceled.');

  const row = { line: 2, question: null, gold: null, pollId: null, outcome: null, error: null, poll: null };
  const pageOf = (ended_at: string | null) =>
    batchPage('', {
      batch: { ...batch, ended_at },
      ...{ close: [], afterLine: 0, hasMore: false },
      rows: [
        { ...row, customId: '2' },
        { ...row, customId: 'ticket-1' },
      ],
    });
  t.match(pageOf(null), '<dt>Cost so far</dt>');
  t.match(pageOf('2026-11-28T09:00:00.000Z'), '<dt>Cost</dt>');
  t.match(
    pageOf(null),
    /row-id">line 2<[\s\S]*row-id"><bdi>ticket-1</,
    'a row without an id of its own has that of its line',
  );
});
