import { savePanel } from '@eloquentpoll/storage';
import { eventually } from '@eloquentpoll/testkit/eventually';
import { Wallet } from 'ethers';
import t from 'tap';
import { installWallet } from '../fixtures/browser-wallet.ts';
import { takePoll } from '../fixtures/hand-worker.ts';
import { openSite } from '../fixtures/open-site.ts';
import { logIn, openDashboard } from '../fixtures/signed-in.ts';

// slow: 6 s

// The dashboard in a real browser: signing in, keys, polls, history, signing out.

const site = await openSite(t);
const { app, context } = site;
const get = (url: string, headers: Record<string, string> = {}) => app.inject({ url, headers });

t.test('[§4.7-page-dashboard] who is not logged in gets the ways to log in, and no account', async (t) => {
  for (const cookie of ['', 'ep_session=nonsense']) {
    const page = await get('/dashboard', { cookie });
    t.equal(page.statusCode, 200);
    t.equal(page.headers['cache-control'], 'no-store');
    t.equal(page.headers['access-control-allow-origin'], undefined, 'no other origin may read it');
    t.match(page.body, /<h1>Sign in<\/h1>/);
  }
  const { accountId } = await site.keyWith(1);
  const { cookie } = await site.sessionFor(accountId);
  const page = await get('/dashboard', { cookie });
  t.match(page.body, accountId);
  t.equal(page.headers['cache-control'], 'no-store');
  t.match(page.headers, { 'content-security-policy': /script-src 'self';/, 'referrer-policy': 'same-origin' });
});

t.test(
  '[§5-cookie-after-wallet, §4.5-verify-api-key, §4.4-create-key, §5-rule-revoked] a wallet signs in, and makes and revokes a key',
  async (t) => {
    const wallet = Wallet.createRandom();
    const page = await site.open('/logo.svg', { permissions: ['clipboard-read', 'clipboard-write'] });
    const asked = await installWallet(page, wallet);
    await page.goto('/dashboard');
    await page.getByRole('button', { name: 'Sign in with wallet' }).click();
    const first = await page.getByLabel('The new key').inputValue();
    t.match(first, /^ep_k_/, 'a new wallet gets its first key');
    t.same(asked, ['eth_requestAccounts', 'personal_sign']);
    await page.getByRole('link', { name: 'Continue' }).click();
    await page.getByText(wallet.address).waitFor();
    // Before its script is here the form is sent as one, and its answer is a page.
    await page.getByRole('link', { name: 'API keys' }).click();
    await page.getByLabel('Key name').fill('Build <b>server</b>');
    await page.getByRole('button', { name: 'Create key' }).click();
    await page.getByRole('heading', { name: 'Your new key' }).waitFor();
    await page.getByRole('button', { name: /^Copy/ }).first().click();
    await page.getByRole('button', { name: 'Copied' }).waitFor();
    const key = String(await page.evaluate('navigator.clipboard.readText()'));
    t.match(key, /^ep_k_\w{38}$/);
    await page.getByRole('tab', { name: 'MCP' }).click();
    t.match(await page.getByRole('region', { name: 'MCP server for Claude Code' }).textContent(), `Bearer ${key}`);
    const works = async () => (await get('/api/keys', { authorization: `Bearer ${key}` })).statusCode;
    t.equal(await works(), 200);

    await page.getByRole('link', { name: 'To your keys' }).click();
    const row = page.getByRole('row', { name: 'Build <b>server</b>' });
    await row.waitFor();
    t.notOk((await page.content()).includes(key), 'it is shown once');
    await row.getByRole('link', { name: 'Revoke' }).click();
    await page.getByRole('link', { name: 'Keep it' }).click();
    t.equal(await works(), 200, 'one may think better of it');
    await row.getByRole('link', { name: 'Revoke' }).click();
    await page.getByRole('button', { name: 'Revoke' }).click();
    await page.getByText('1 revoked or expired').waitFor();
    t.equal(await works(), 401);
  },
);

t.test('a wallet whose owner declines is no error', async (t) => {
  const page = await site.open('/logo.svg');
  await page
    .context()
    .addInitScript(
      "window.ethereum = { request: () => Promise.reject(Object.assign(new Error('no'), { code: 4001 })) }",
    );
  await page.goto('/dashboard');
  await page.getByRole('button', { name: 'Sign in with wallet' }).click();
  await page.getByText('You declined in the wallet.').waitFor();
  t.equal((await page.context().cookies()).length, 0);
});

t.test('[§4.1-poll-cookie] a poll: what it will take, its votes as they come, what it cost', async (t) => {
  const { accountId } = await site.keyWith(5);
  const page = await openDashboard(site, accountId);
  await page.getByLabel('Question').fill('Which of the two?');
  await page.getByLabel('Options, one per line').fill('Only one');
  await page.getByText('Add at least two options.').waitFor();
  await page.getByLabel('Options, one per line').fill('The left one\n\n  The <i>right</i> one ');
  await page.getByText('Expected', { exact: true }).waitFor();
  const dryRun = await app.inject({
    method: 'POST',
    url: '/api/poll',
    headers: await site.sessionFor(accountId),
    payload: { dry_run: true, question: 'Which of the two?', options: ['The left one', 'The <i>right</i> one'] },
  });
  const { expected } = dryRun.json().estimates.cost_usd;
  await page.getByText(`$${Number(expected.toPrecision(3))}`, { exact: true }).waitFor();

  await page.getByRole('button', { name: 'Run poll' }).click();
  const live = page.locator('[data-progress]');
  await live.getByText('0 of 9 voted.').waitFor();
  const pollId = await newestPollOf(accountId);
  const worker = await takePoll(context, pollId);
  await worker.open();
  const bars = live.locator('.bar-row');
  for (const [option, left, right] of [
    [0, '1', '0'],
    [1, '1', '1'],
    [1, '1', '2'],
  ] as const) {
    await worker.vote(option);
    await eventually(
      'the bars show the counts',
      async () => (await bars.locator('.count').allTextContents()).join() === `${left},${right}`,
    );
  }
  t.same(await bars.locator('.name').allTextContents(), ['The left one', 'The <i>right</i> one']);
  const { poll_id } = await worker.end();
  await live.getByRole('link', { name: 'View and share' }).waitFor();
  t.equal(await live.getByRole('link', { name: 'View and share' }).getAttribute('href'), `/result/${poll_id}`);
  await page.locator(`#history a[href="/result/${poll_id}"]`).waitFor();
  await page.locator('#balance').getByText('$4.99').waitFor();
});

t.test('an address with a question fills in the form of a paid poll, and asks nothing', async (t) => {
  const { accountId } = await site.keyWith(5);
  const page = await openDashboard(site, accountId);
  const query = 'question=Which+of+the+two%3F&option=The+%3Cb%3Eleft&option=Right&preset=strong&threshold=1&limit=2';
  await page.goto(`/dashboard?${query}#run`);
  const form = page.locator('[data-run]');
  const filled = (name: string) => form.locator(`[name=${name}]`).inputValue();
  await form.getByText('Expected', { exact: true }).waitFor();
  t.equal(await filled('question'), 'Which of the two?');
  t.equal(await filled('options'), 'The <b>left\nRight');
  t.same(
    [await filled('preset'), await filled('confidence_threshold'), await filled('max_cost_usd')],
    ['strong', '1', '2'],
  );
  await page.context().clearCookies();
  await page.goto(`/dashboard?${query}`);
  await page.getByRole('heading', { name: 'Sign in' }).first().waitFor();
  await logIn(site, accountId, page);
  await page.goto('/dashboard');
  t.equal(await filled('question'), 'Which of the two?', 'a login in between keeps them');
  await page.goto('/dashboard?preset=__proto__&question=Is+it%3F');
  t.equal(await filled('preset'), 'broad', 'what is no panel changes nothing');
  t.equal(await page.locator('#history td, #history th a').count(), 0);
});

t.test('a saved panel is among the choices, and its models are asked', async (t) => {
  const { accountId } = await site.keyWith(5);
  const models = context.panels
    .models()
    .slice(0, 3)
    .map(({ id }) => id);
  await savePanel(context.storage, accountId, { name: 'night-checks', models });
  const page = await openDashboard(site, accountId);
  await page.getByLabel('Panel', { exact: true }).selectOption({ label: 'night-checks: your 3 models' });
  await page.getByLabel('Question').fill('Which of the two?');
  await page.getByLabel('Options, one per line').fill('One\nOther');
  await page
    .getByText(/of 3\b/)
    .first()
    .waitFor();
  await page.getByRole('button', { name: 'Run poll' }).click();
  await page.locator('[data-progress]').getByText('0 of 3 voted.').waitFor();
  const worker = await takePoll(context, await newestPollOf(accountId));
  await worker.open();
  for (const option of [0, 0, 0]) await worker.vote(option);
  const { saved_panel } = await worker.end();
  t.equal(saved_panel, 'night-checks');
});

async function newestPollOf(accountId: string): Promise<string> {
  const newest = () =>
    context.storage.db
      .selectFrom('polls')
      .select('id')
      .where('account_id', '=', accountId)
      .orderBy('created_at', 'desc')
      .executeTakeFirst();
  await eventually('the newest poll is stored', async () => (await newest()) !== undefined);
  return (await newest())!.id;
}

t.test('[§4.1-poll-402] a poll that the balance does not cover is refused in words', async (t) => {
  const { accountId } = await site.keyWith(0);
  const page = await openDashboard(site, accountId);
  await page.getByLabel('Question').fill('Which of the two?');
  await page.getByLabel('Options, one per line').fill('This\nThat');
  await page.getByText('Not enough balance').waitFor();
  await page.getByRole('button', { name: 'Run poll' }).click();
  await page
    .getByRole('alert')
    .getByText(/balance/i)
    .waitFor();
  t.notOk(await page.locator('[data-progress]').isVisible());
});

t.test(
  'a limit that buys no vote disables Run and says what would do; a mistake is named and gets the focus',
  async (t) => {
    const { accountId } = await site.keyWith(5);
    const page = await openDashboard(site, accountId);
    const run = page.getByRole('button', { name: 'Run poll' });
    await page.getByLabel('Question').fill('Which of the two?');
    await page.getByLabel('Options, one per line').fill('This\nThat');
    await page.getByLabel('Cost limit').fill('0.0001');
    const said = await page.getByText('This limit is too low for a single vote.').textContent();
    t.ok(await run.isDisabled());
    t.equal(await page.getByLabel('Cost limit').getAttribute('aria-invalid'), 'true');
    await page.getByLabel('Cost limit').fill(/\$([\d.]+)\.$/.exec(said ?? '')![1]!);
    await page.getByText('Expected', { exact: true }).waitFor();
    t.notOk(await run.isDisabled(), 'the limit that it names is enough');

    await page.getByLabel('Cost limit').fill('26');
    await page.getByText('The limit can be at most $25.').waitFor();
    await page.getByLabel('Cost limit').fill('1');
    await page.getByLabel('Options, one per line').fill('Same\nOther\nSame');
    await run.click();
    await page.getByText('Options 1 and 3 are the same.').waitFor();
    t.equal(await page.locator(':focus').getAttribute('name'), 'options');
    t.equal(await page.getByLabel('Options, one per line').inputValue(), 'Same\nOther\nSame', 'what was typed stays');
    t.notMatch(await page.locator('[data-estimate]').textContent(), /_/);
  },
);

t.test('a cleared threshold is a mistake, not a threshold of 0', async (t) => {
  const { accountId } = await site.keyWith(5);
  const page = await openDashboard(site, accountId);
  await page.getByLabel('Question').fill('Which of the two?');
  await page.getByLabel('Options, one per line').fill('This\nThat');
  await page.getByText('Expected', { exact: true }).waitFor();
  await page.getByLabel('Confidence threshold').fill('');
  await page.getByText('The threshold must be a number.').waitFor();
  await page.getByRole('button', { name: 'Run poll' }).click();
  await eventually('the field has the focus', async () => {
    const name = await page.locator(':focus').getAttribute('name');
    return name === 'confidence_threshold';
  });
  t.notOk(await page.locator('[data-progress]').isVisible());
});

t.test('the same poll sent again after an unknown outcome is the same poll; another order is another', async (t) => {
  const { accountId } = await site.keyWith(5);
  const page = await openDashboard(site, accountId);
  const keys: (string | undefined)[] = [];
  await page.route('**/api/poll', async (route) => {
    if (route.request().postDataJSON().dry_run === true) return route.continue();
    keys.push(route.request().headers()['idempotency-key']);
    // The refusal of the second try says nothing about the first.
    const [status, code] = keys.length === 2 ? [429, 'rate_limited'] : [503, 'service_unavailable'];
    const body = { error: 'Whether a poll was made is not known yet.', code };
    await route.fulfill({ status, contentType: 'application/json', body: JSON.stringify(body) });
  });
  await page.getByLabel('Question').fill('Which of the two?');
  await page.getByLabel('Options, one per line').fill('This\nThat');
  const run = page.getByRole('button', { name: 'Run poll' });
  for (const asked of [1, 2, 3]) {
    await run.click();
    await eventually(`it was sent ${asked} times`, async () => keys.length === asked && !(await run.isDisabled()));
  }
  await page.getByLabel('Question').fill('Which of the other two?');
  await run.click();
  await eventually('it was sent once more', async () => keys.length === 4);
  t.match(keys[0], /^[\w-]{36}$/);
  t.same(keys.slice(1, 3), [keys[0], keys[0]]);
  t.not(keys[3], keys[0]);
});

t.test('[§4.5-logout-clears] signing out is final: nothing is left to go back to', async (t) => {
  const { accountId } = await site.keyWith(3);
  const page = await openDashboard(site, accountId);
  await page.getByText(accountId).waitFor();
  await page.getByRole('link', { name: 'Sign out' }).click();
  await page.waitForURL(`${site.url}/`);
  t.equal((await page.context().cookies()).length, 0);
  await page.goBack();
  await page.getByRole('heading', { name: 'Sign in' }).waitFor();
  t.notOk((await page.content()).includes(accountId));
});
